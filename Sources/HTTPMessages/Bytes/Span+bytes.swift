// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

extension Span<UInt8> {
    /// The part of `range` without optional white space at either end (RFC 9110 §5.6.3).
    package func trimmingOptionalWhitespace(_ range: Range<Int>) -> Range<Int> {
        var lower = range.lowerBound
        var upper = range.upperBound
        while lower < upper, self[lower].isOptionalWhitespace { lower &+= 1 }
        while upper > lower, self[upper &- 1].isOptionalWhitespace { upper &-= 1 }
        return lower..<upper
    }

    /// Returns true if `range` holds `word`, which is lower-case, in any case.
    package func equalsIgnoringCase(_ range: Range<Int>, _ word: String) -> Bool {
        let expected = word.utf8.span
        guard range.count == expected.count else { return false }
        for offset in 0..<expected.count
        where self[range.lowerBound &+ offset].asciiLowercased != expected[offset] {
            return false
        }
        return true
    }
}

extension [UInt8] {
    @inline(__always)
    package mutating func append(_ bytes: Span<UInt8>) {
        append(addingCapacity: bytes.count) { $0.append(copying: bytes) }
    }
}
