// SPDX-License-Identifier: Apache-2.0

/// The place of a message in a trace: the content of `traceparent` (W3C Trace Context §3.2).
package struct TraceContext: Hashable, Sendable {
    /// The trace's identifier, in two halves; never all zero.
    package let traceID: (high: UInt64, low: UInt64)
    /// The identifier of the message's span; never zero.
    package let spanID: UInt64
    /// True if the sender may have recorded the trace.
    package let isSampled: Bool

    /// - Returns: nil if an identifier is zero, which is invalid.
    package init?(traceID: (high: UInt64, low: UInt64), spanID: UInt64, isSampled: Bool) {
        guard traceID.high | traceID.low != 0, spanID != 0 else { return nil }
        self.traceID = traceID
        self.spanID = spanID
        self.isSampled = isSampled
    }

    /// Parses the value of a `traceparent`, strictly.
    ///
    /// For an unknown version, the members of version 00 are read if a dash or the end follows them (§3.2.4).
    ///
    /// - Returns: nil for an invalid value, which begins a new trace.
    package init?(traceparent value: Span<UInt8>) {
        guard value.count >= 55, let version = Self.number(in: value, 0..<2), version != 0xFF,
            version == 0 ? value.count == 55 : value.count == 55 || value[55] == Byte.hyphen,
            value[2] == Byte.hyphen, value[35] == Byte.hyphen, value[52] == Byte.hyphen,
            let high = Self.number(in: value, 3..<19), let low = Self.number(in: value, 19..<35),
            let span = Self.number(in: value, 36..<52), let flags = Self.number(in: value, 53..<55)
        else { return nil }
        self.init(traceID: (high, low), spanID: span, isSampled: flags & 1 != 0)
    }

    package var fieldValue: String { "00-\(traceIDText)-\(spanIDText)-0\(isSampled ? 1 : 0)" }

    package var traceIDText: String { Self.text(traceID.high) + Self.text(traceID.low) }

    package var spanIDText: String { Self.text(spanID) }

    /// 16 hexadecimal digits, in lower case.
    package static func text(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    /// A number in lower-case hexadecimal digits; nil for anything else.
    private static func number(in bytes: Span<UInt8>, _ range: Range<Int>) -> UInt64? {
        var number: UInt64 = 0
        for index in range {
            switch bytes[index] {
            case let byte where 0x30...0x39 ~= byte: number = number << 4 | UInt64(byte - 0x30)
            case let byte where 0x61...0x66 ~= byte: number = number << 4 | UInt64(byte - 0x61 + 10)
            default: return nil
            }
        }
        return number
    }

    package static func == (left: TraceContext, right: TraceContext) -> Bool {
        left.traceID == right.traceID && left.spanID == right.spanID && left.isSampled == right.isSampled
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(spanID) }
}
