// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Glibc

// Every byte of every head passes here, many at a time.
extension Span<UInt8> {
    /// The index of the first byte from `start` on that is no part of a token (RFC 9110 §5.6.2); ``count`` if all are.
    package func endOfToken(from start: Int) -> Int {
        guard start < count else { return count }
        return withUnsafeBufferPointer { bearerd_end_of_token($0.baseAddress, start, $0.count) }
    }

    /// The index of the first byte from `start` on that no field value may hold (RFC 9110 §5.5); ``count`` if all may.
    package func endOfFieldContent(from start: Int) -> Int {
        guard start < count else { return count }
        return withUnsafeBufferPointer { bearerd_end_of_content($0.baseAddress, start, $0.count) }
    }

    /// The index of the first byte from `start` on that is no printable ASCII, or a space, quote or backslash; ``count`` if
    /// there is none.
    package func endOfPlainText(from start: Int) -> Int {
        guard start < count else { return count }
        return withUnsafeBufferPointer { bearerd_end_of_plain_text($0.baseAddress, start, $0.count) }
    }

    /// Reads the field line that begins at `start` (RFC 9112 §5), in one pass.
    ///
    /// - Returns: nil if it is not complete, not a field line or not right; whoever asked looks closer then.
    package func fieldLine(from start: Int) -> FieldLine? {
        guard start < count else { return nil }
        let line = withUnsafeBufferPointer { bearerd_field_line($0.baseAddress, start, $0.count) }
        guard line.next > 0 else { return nil }
        return FieldLine(
            nameEnd: Int(line.name_end), valueStart: Int(line.value),
            valueEnd: Int(line.value_end), next: Int(line.next))
    }

    /// Returns true if both have the same bytes.
    package func equals(_ other: Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { one in
            other.withUnsafeBytes { two in
                guard let left = one.baseAddress, let right = two.baseAddress else { return true }
                return memcmp(left, right, one.count) == 0
            }
        }
    }

    /// The index of the first `byte` in `range`.
    package func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
        precondition(range.lowerBound >= 0 && range.upperBound <= count, "not a part of the bytes")
        return withUnsafeBufferPointer { bytes in
            guard !range.isEmpty, let start = bytes.baseAddress,
                let found = memchr(start + range.lowerBound, CInt(byte), range.count)
            else { return nil }
            return UnsafeRawPointer(found) - UnsafeRawPointer(start)
        }
    }
}

/// The places in a head at which the parts of a field line are.
package struct FieldLine: Equatable {
    package let nameEnd: Int
    package let valueStart: Int
    package let valueEnd: Int
    /// The beginning of the line behind it.
    package let next: Int
}
