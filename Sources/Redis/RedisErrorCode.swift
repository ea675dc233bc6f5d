// SPDX-License-Identifier: Apache-2.0

import BearerdRESP

/// The first word of an error reply, as Redis spells it (an open set).
package struct RedisErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    /// No particular error.
    static let general = RedisErrorCode(rawValue: "ERR")
    static let noAuthentication = RedisErrorCode(rawValue: "NOAUTH")
    static let wrongPassword = RedisErrorCode(rawValue: "WRONGPASS")
    static let noPermission = RedisErrorCode(rawValue: "NOPERM")
    static let denied = RedisErrorCode(rawValue: "DENIED")
    /// The key holds a value of another type.
    static let wrongType = RedisErrorCode(rawValue: "WRONGTYPE")
    static let readOnly = RedisErrorCode(rawValue: "READONLY")
    static let outOfMemory = RedisErrorCode(rawValue: "OOM")
    static let misconfigured = RedisErrorCode(rawValue: "MISCONF")
    static let loading = RedisErrorCode(rawValue: "LOADING")
    /// The replica has lost its master.
    static let masterDown = RedisErrorCode(rawValue: "MASTERDOWN")
    /// The master has fewer replicas than it needs for writing (`min-replicas-to-write`).
    static let tooFewReplicas = RedisErrorCode(rawValue: "NOREPLICAS")
    /// A script of another client does not end.
    static let busy = RedisErrorCode(rawValue: "BUSY")
    static let tooManyClients = RedisErrorCode(rawValue: "ERR max number of clients reached")
    /// The command does not exist, or was renamed.
    static let unknownCommand = RedisErrorCode(rawValue: "ERR unknown command")
    static let moved = RedisErrorCode(rawValue: "MOVED")
    static let crossSlot = RedisErrorCode(rawValue: "CROSSSLOT")
    static let clusterDown = RedisErrorCode(rawValue: "CLUSTERDOWN")
}

/// Errors that servers tell in words alone.
extension RedisErrorCode {
    /// Codes that servers put into the text of an error when the command fails in a script.
    private static let inScripts = [
        noPermission, wrongType, readOnly, outOfMemory, misconfigured, masterDown, tooFewReplicas,
    ]
    /// The text for a missing right, in Redis 6 and 7.0, and in Redis 7.2 and Valkey.
    private static let missingRight = ["The user executing the script can't", "ACL failure in script"]

    /// Finds the code in the text of an `ERR` reply; for a script, Redis 6 puts it after the position in the script.
    fileprivate init(inWords text: String) {
        if let code = [Self.tooManyClients, .unknownCommand].first(where: { text.hasPrefix($0.rawValue) }) {
            self = code
        } else if text.contains("Unknown Redis command") {
            self = .unknownCommand
        } else if Self.missingRight.contains(where: { text.contains($0) }) {
            self = .noPermission
        } else if text.hasPrefix("ERR Error running script") {
            let words = text.split(separator: " ").map { $0.first == "-" ? $0.dropFirst() : $0 }
            self =
                words.lazy.compactMap { word in Self.inScripts.first { $0.rawValue == word } }.first
                ?? .general
        } else {
            self = .general
        }
    }
}

extension RESPValue {
    /// The error code of an error reply; nil for any other.
    var refusal: RedisErrorCode? {
        guard case .error(let bytes) = self, let code = errorCode.map(RedisErrorCode.init(rawValue:))
        else { return nil }
        return code == .general ? RedisErrorCode(inWords: String(decoding: bytes, as: UTF8.self)) : code
    }
}
