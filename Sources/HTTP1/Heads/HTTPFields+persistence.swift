// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

extension HTTPFields {
    /// Returns true if the sender of a message of `version` keeps the connection open after it (RFC 9112
    /// §9.3).
    func isPersistent(_ version: HTTPVersion) -> Bool {
        guard has(.connection) else { return version == .http11 }
        switch usualConnection {
        case .close: return false
        case .keepAlive: return true
        case nil: break
        }
        return !containsToken("close", in: .connection)
            && (version == .http11 || containsToken("keep-alive", in: .connection))
    }
}
