// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// The part of `range` without optional white space at either end (RFC 9110 §5.6.3).
    func trimmingOptionalWhitespace(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower].isOptionalWhitespace { lower &+= 1 }
        while upper > lower, self[upper &- 1].isOptionalWhitespace { upper &-= 1 }
        return lower..<upper
    }

    /// Whether `range` holds `word`, which is lower-case, in any case.
    func equalsIgnoringCase(_ range: Range<Int>, _ word: String) -> Bool {
        let expected = word.utf8.span
        guard range.count == expected.count else { return false }
        for offset in 0..<expected.count where self[range.lowerBound &+ offset].asciiLowercased != expected[offset] {
            return false
        }
        return true
    }

    /// Where `byte` first stands in `range`.
    func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        for index in range where self[index] == byte {
            return index
        }
        return nil
    }
}

extension [UInt8] {
    /// Appends a copy of `bytes`.
    mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { output in
            for index in bytes.indices {
                output.append(bytes[index])
            }
        }
    }
}
