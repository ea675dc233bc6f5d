// SPDX-License-Identifier: Apache-2.0

import RESP

/// The first word of an error reply, as Redis spells it (an open set).
package struct RedisErrorCode: RawRepresentable, Hashable, Sendable {
    package let rawValue: String

    package init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Nothing in particular.
    static let general = RedisErrorCode(rawValue: "ERR")
    static let noAuthentication = RedisErrorCode(rawValue: "NOAUTH")
    static let wrongPassword = RedisErrorCode(rawValue: "WRONGPASS")
    static let noPermission = RedisErrorCode(rawValue: "NOPERM")
    /// The server is in protected mode.
    static let denied = RedisErrorCode(rawValue: "DENIED")
    /// The key holds a value of another type.
    static let wrongType = RedisErrorCode(rawValue: "WRONGTYPE")
    /// The server is a replica.
    static let readOnly = RedisErrorCode(rawValue: "READONLY")
    static let outOfMemory = RedisErrorCode(rawValue: "OOM")
    /// The server cannot write to its disk.
    static let misconfigured = RedisErrorCode(rawValue: "MISCONF")
    /// The server still reads its disk.
    static let loading = RedisErrorCode(rawValue: "LOADING")
    /// A replica has lost its master.
    static let masterDown = RedisErrorCode(rawValue: "MASTERDOWN")
    /// Fewer replicas follow than it wants to have before it writes (`min-replicas-to-write`).
    static let tooFewReplicas = RedisErrorCode(rawValue: "NOREPLICAS")
    /// Somebody's script does not end.
    static let busy = RedisErrorCode(rawValue: "BUSY")
    /// It has as many clients as it takes.
    static let tooManyClients = RedisErrorCode(rawValue: "ERR max number of clients reached")
    /// There is no such command, or somebody has renamed it.
    static let unknownCommand = RedisErrorCode(rawValue: "ERR unknown command")
    static let moved = RedisErrorCode(rawValue: "MOVED")
    static let crossSlot = RedisErrorCode(rawValue: "CROSSSLOT")
    static let clusterDown = RedisErrorCode(rawValue: "CLUSTERDOWN")
}

/// What servers say in words alone.
extension RedisErrorCode {
    /// What servers have as codes when a command fails by itself, and say in words when it fails in a script.
    private static let inScripts = [
        noPermission, wrongType, readOnly, outOfMemory, misconfigured, masterDown, tooFewReplicas,
    ]
    /// How a missing right is told by Redis 6 and 7.0, and by Redis 7.2 and Valkey.
    private static let missingRight = ["The user executing the script can't", "ACL failure in script"]

    /// Finds the code in what is said as `ERR`; of a script Redis 6 puts it behind the place in there.
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
    /// Why a command was refused; nil if it was not.
    var refusal: RedisErrorCode? {
        guard case .error(let bytes) = self, let code = errorCode.map(RedisErrorCode.init(rawValue:)) else {
            return nil
        }
        return code == .general ? RedisErrorCode(inWords: String(decoding: bytes, as: UTF8.self)) : code
    }
}
