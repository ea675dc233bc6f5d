// SPDX-License-Identifier: Apache-2.0

extension HTTPFields {
    /// The usual values of `Connection`, which is asked for in every message.
    package enum UsualConnection { case close, keepAlive }

    /// The value of `Connection` where it is one word, as it nearly always is.
    package var usualConnection: UsualConnection? {
        guard case .once(let value) = occurrence(of: .connection) else { return nil }
        let bytes = block.span
        if KnownFieldName.find(in: bytes, value) == .keepAlive { return .keepAlive }
        return bytes.equalsIgnoringCase(value, "close") ? .close : nil
    }
}
