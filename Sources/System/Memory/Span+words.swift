// SPDX-License-Identifier: Apache-2.0

extension Span<UInt8> {
    /// Eight bytes from `start` on as one number, the first byte in the lowest bits.
    ///
    /// The compiler makes one load of it.
    @inline(__always)
    package func word(at start: Int) -> UInt64 {
        let bytes = extracting(start..<(start + 8))
        return UInt64(bytes[0]) | UInt64(bytes[1]) &<< 8 | UInt64(bytes[2]) &<< 16 | UInt64(bytes[3]) &<< 24
            | UInt64(bytes[4]) &<< 32 | UInt64(bytes[5]) &<< 40 | UInt64(bytes[6]) &<< 48
            | UInt64(bytes[7]) &<< 56
    }
}

/// Eight bytes that are searched together.
///
/// A mark is the top bit of a byte. The lowest mark belongs to the first byte found; higher ones may be
/// wrong, because the subtraction borrows from them.
extension UInt64 {
    private static var ones: UInt64 { 0x0101_0101_0101_0101 }
    private static var tops: UInt64 { 0x8080_8080_8080_8080 }

    /// Marks the bytes below `bound`, which is at most 0x80.
    @inline(__always)
    package func marks(below bound: UInt8) -> UInt64 {
        (self &- Self.ones &* UInt64(bound)) & ~self & Self.tops
    }

    /// Marks the bytes that equal `byte`.
    @inline(__always)
    package func marks(of byte: UInt8) -> UInt64 { (self ^ (Self.ones &* UInt64(byte))).marks(below: 1) }
}
