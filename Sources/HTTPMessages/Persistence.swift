// SPDX-License-Identifier: Apache-2.0

extension HTTPFields {
    /// The usual values of `Connection`, which is asked for in every message.
    enum UsualConnection { case close, keepAlive }

    /// The value of `Connection` where it is one word, as it nearly always is.
    var usualConnection: UsualConnection? {
        guard case .once(let value) = occurrence(of: .connection) else { return nil }
        let bytes = block.span
        if KnownFieldName.find(in: bytes, value) == .keepAlive { return .keepAlive }
        return bytes.equalsIgnoringCase(value, "close") ? .close : nil
    }

    /// Whether the sender of a message in that version lets the connection live on after it (RFC 9112 §9.3).
    func isPersistent(_ version: HTTPVersion) -> Bool {
        switch usualConnection {
        case .close: return false
        case .keepAlive: return true
        case nil: break
        }
        guard has(.connection) else { return version == .http11 }
        return !containsToken("close", in: .connection)
            && (version == .http11 || containsToken("keep-alive", in: .connection))
    }
}
