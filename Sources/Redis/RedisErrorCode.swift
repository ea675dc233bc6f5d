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
    static let moved = RedisErrorCode(rawValue: "MOVED")
    static let crossSlot = RedisErrorCode(rawValue: "CROSSSLOT")
    static let clusterDown = RedisErrorCode(rawValue: "CLUSTERDOWN")
}

extension RESPValue {
    /// Why a command was refused; nil if it was not.
    var refusal: RedisErrorCode? { errorCode.map(RedisErrorCode.init(rawValue:)) }
}
