// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem

// Into memory that was made ready for all of it: nothing is allocated, and no owner is asked for each piece.
extension OutputSpan<UInt8> {
    /// Appends a copy of `bytes`, for which there must be room, in one step.
    @inline(__always)
    package mutating func append(copying bytes: Span<UInt8>) {
        bytes.withUnsafeBufferPointer { append(copying: $0) }
    }

    /// Appends a literal.
    @inline(__always)
    package mutating func append(literal text: StaticString) {
        append(copying: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    /// Appends a copy of `bytes`.
    package mutating func append(_ bytes: borrowing [UInt8]) { append(copying: bytes.span) }

    /// Appends a text's UTF-8.
    package mutating func append(_ text: borrowing String) { append(copying: text.utf8.span) }

    /// Appends a number in decimal, with leading zeros up to `width` digits.
    package mutating func append(decimal value: UInt64, width: Int = 1) {
        if value < 10, width <= 1 { return append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value)) }
        withUnsafeMutableBufferPointer { buffer, filled in
            guard let start = buffer.baseAddress else { preconditionFailure("no room was made") }
            let count = bearerd_decimal(value, width, start + filled, buffer.count - filled)
            precondition(count > 0, "no room was made")
            filled += count
        }
    }

    @inline(__always)
    private mutating func append(copying source: UnsafeBufferPointer<UInt8>) {
        precondition(source.count <= freeCapacity, "no room was made")
        guard let from = source.baseAddress else { return }
        withUnsafeMutableBufferPointer { buffer, count in
            guard let to = buffer.baseAddress else { return }
            (to + count).initialize(from: from, count: source.count)
            count += source.count
        }
    }
}
