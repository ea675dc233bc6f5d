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
