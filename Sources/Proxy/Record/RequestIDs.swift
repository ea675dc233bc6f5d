// SPDX-License-Identifier: Apache-2.0

/// Makes `X-Request-Id`s: 16 random digits that name this worker's life, then a count.
struct RequestIDs {
    private var line: [UInt8]
    private var count: UInt64 = 0

    init() {
        let prefix = String(UInt64.random(in: .min ... .max), radix: 16)
        let name = "X-Request-Id: " + String(repeating: "0", count: 16 - prefix.count) + prefix
        line = Array((name + "0000000000000000\r\n").utf8)
    }

    /// A fresh field line, to be appended to a head.
    mutating func nextLine() -> [UInt8] {
        count &+= 1
        var rest = count
        var position = line.count - 3
        while rest > 0 {
            let digit = UInt8(rest & 0xF)
            line[position] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            position -= 1
            rest >>= 4
        }
        return line
    }
}
