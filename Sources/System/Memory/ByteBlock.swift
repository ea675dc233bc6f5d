// SPDX-License-Identifier: Apache-2.0

/// Bytes one behind the other, in memory that is used again and again.
///
/// To empty an array and keep its memory costs some eighty instructions, to append to it a hundred; here it is a few, and
/// the copy.
package struct ByteBlock: Sendable {
    /// All of the memory; what stands from ``count`` on means nothing.
    package var bytes: [UInt8] = []
    /// How many bytes there are.
    package private(set) var count = 0

    package init() {}

    /// Whether there is no byte.
    @inline(__always) package var isEmpty: Bool { count == 0 }

    /// Appends a copy of `source`.
    @inline(__always)
    package mutating func append(_ source: Span<UInt8>) {
        let start = count
        let end = start &+ source.count
        if end > bytes.count { grow(to: end) }
        bytes.withUnsafeMutableBufferPointer { target in
            source.withUnsafeBufferPointer { from in
                guard let from = from.baseAddress, let to = target.baseAddress else { return }
                (to + start).update(from: from, count: end &- start)
            }
        }
        count = end
    }

    /// Appends one byte.
    @inline(__always)
    package mutating func append(_ byte: UInt8) {
        if count == bytes.count { grow(to: count &+ 1) }
        bytes[count] = byte
        count &+= 1
    }

    /// Forgets the last `length` bytes.
    package mutating func removeLast(_ length: Int) {
        precondition(length <= count, "more forgotten than there is")
        count &-= length
    }

    /// Forgets all bytes.
    @inline(__always)
    package mutating func removeAll(keepingCapacity: Bool) {
        if !keepingCapacity { bytes = [] }
        count = 0
    }

    @inline(never)
    package mutating func grow(to needed: Int) {
        let size = max(needed, 2 &* bytes.count, 256)
        bytes.append(contentsOf: repeatElement(0, count: size &- bytes.count))
    }
}

extension [UInt8] {
    /// Puts a copy of `source` in the place of all bytes, and keeps the memory.
    ///
    /// Where the length stays the same, as it often does from message to message, that costs no more than the copy.
    @inline(__always)
    package mutating func replaceAll(with source: Span<UInt8>) {
        guard source.count == count else { return replaceMemory(with: source) }
        withUnsafeMutableBufferPointer { target in
            source.withUnsafeBufferPointer { from in
                guard let from = from.baseAddress, let to = target.baseAddress else { return }
                to.update(from: from, count: target.count)
            }
        }
    }

    @inline(never)
    package mutating func replaceMemory(with source: Span<UInt8>) {
        removeAll(keepingCapacity: true)
        append(addingCapacity: source.count) { $0.append(copying: source) }
    }
}
