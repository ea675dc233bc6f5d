// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension HTTPFields {
    /// The usual values of `Connection`, which are asked for in every message.
    package enum UsualConnection { case close, keepAlive }

    /// The value of `Connection` if it is a single word, as it nearly always is.
    package var usualConnection: UsualConnection? {
        switch parsedConnection {
        case .close: return .close
        case .keepAlive: return .keepAlive
        case .some(.none), .other: return nil
        case nil: return searchedConnection
        }
    }

    private var searchedConnection: UsualConnection? {
        guard case .once(let value) = occurrence(of: .connection) else { return nil }
        let bytes = block.bytes.span
        switch value.count {
        // Setting the bit 0x20 makes a letter lower-case.
        case 5:
            let start = value.lowerBound
            let isClose =
                bytes[start] | 0x20 == UInt8(ascii: "c") && bytes[start &+ 1] | 0x20 == UInt8(ascii: "l")
                && bytes[start &+ 2] | 0x20 == UInt8(ascii: "o")
                && bytes[start &+ 3] | 0x20 == UInt8(ascii: "s")
                && bytes[start &+ 4] | 0x20 == UInt8(ascii: "e")
            return isClose ? .close : nil
        case 10:
            // Two words of eight letters that overlap.
            let lowerCase: UInt64 = 0x2020_2020_2020_2020
            let isKeepAlive =
                bytes.word(at: value.lowerBound) | lowerCase == 0x696C_612D_7065_656B
                && bytes.word(at: value.lowerBound &+ 2) | lowerCase == 0x6576_696C_612D_7065
            return isKeepAlive ? .keepAlive : nil
        default: return nil
        }
    }
}
