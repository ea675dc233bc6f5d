// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// Makes `X-Request-Id`s: 16 random digits for each start of a worker, then a counter.
struct RequestIDs {
    private var field: PreparedField
    private var count: UInt64 = 0

    init() {
        let prefix = String(UInt64.random(in: .min ... .max), radix: 16)
        let value = String(repeating: "0", count: 16 - prefix.count) + prefix + "0000000000000000"
        field = PreparedField(.xRequestID, known: value)
    }

    /// Adds a new identifier to a head that has none.
    mutating func identify(_ fields: inout HTTPFields) {
        count &+= 1
        var rest = count
        var position = 31
        while true {
            let digit = UInt8(rest & 0xF)
            field.set(position, to: digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            // The digit before it changes with a carry only.
            guard digit == 0, position > 16 else { break }
            position -= 1
            rest >>= 4
        }
        fields.append(field)
    }
}
