// SPDX-License-Identifier: Apache-2.0

/// Finds the first invalid UTF-8; libyaml itself would accept UTF-16 too, and reports bytes instead of lines.
enum UTF8Check {
    /// The offset of the first byte that is not part of well-formed UTF-8 (RFC 3629); nil if there is none.
    static func firstInvalidByte(in bytes: [UInt8]) -> Int? {
        guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
        var decoder = UTF8()
        var consumed = 0
        var iterator = bytes.makeIterator()
        while case .scalarValue(let scalar) = decoder.decode(&iterator) {
            consumed += UTF8.width(scalar)
        }
        return consumed
    }
}

extension Mark {
    /// The place of a byte.
    init(of offset: Int, in bytes: [UInt8]) {
        var line = 1
        var column = 1
        for byte in bytes.prefix(offset) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                column += 1
            }
        }
        self.init(line: line, column: column)
    }
}
