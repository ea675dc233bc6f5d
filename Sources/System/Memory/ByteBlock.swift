// SPDX-License-Identifier: Apache-2.0

/// A byte array whose memory is reused, for messages.
///
/// Emptying a Swift array with its memory kept costs some eighty instructions, appending to it a hundred;
/// here both cost a few, and the copy.
package struct ByteBlock: Sendable {
    /// All of the memory; bytes from ``count`` on are meaningless.
    package var bytes: [UInt8] = []
    /// The number of bytes; not private, because only what other modules may see is inlined there.
    package var count = 0

    package init() {}

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

    /// Appends `length` bytes that `body` writes, all of them.
    @inline(__always)
    package mutating func append(
        count length: Int, _ body: (UnsafeMutableBufferPointer<UInt8>) -> Void
    ) {
        let start = count
        let end = start &+ length
        if end > bytes.count { grow(to: end) }
        bytes.withUnsafeMutableBufferPointer { body(UnsafeMutableBufferPointer(rebasing: $0[start..<end])) }
        count = end
    }

    /// Appends what `body` writes, at most `room` bytes.
    @inline(__always)
    package mutating func append(room: Int, _ body: (inout OutputSpan<UInt8>) -> Void) {
        let start = count
        let end = start &+ room
        if end > bytes.count { grow(to: end) }
        var written = 0
        bytes.withUnsafeMutableBufferPointer { memory in
            let free = UnsafeMutableBufferPointer(rebasing: memory[start..<end])
            var output = OutputSpan(buffer: free, initializedCount: 0)
            body(&output)
            written = output.finalize(for: free)
        }
        count = start &+ written
    }

    /// Removes the first `length` bytes; those behind them move up.
    package mutating func removeFirst(_ length: Int) {
        precondition(length <= count, "more removed than there is")
        guard length > 0 else { return }
        let rest = length..<count
        bytes.withUnsafeMutableBufferPointer { memory in
            guard let start = memory.baseAddress else { return }
            start.update(from: start + rest.lowerBound, count: rest.count)
        }
        count = rest.count
    }

    /// Removes the last `length` bytes.
    package mutating func removeLast(_ length: Int) {
        precondition(length <= count, "more forgotten than there is")
        count &-= length
    }

    /// Removes all bytes.
    @inline(__always)
    package mutating func removeAll(keepingCapacity: Bool) {
        if !keepingCapacity { bytes = [] }
        count = 0
    }

    /// Removes all bytes, and overwrites them.
    package mutating func wipe() {
        bytes.wipe(count)
        count = 0
    }

    @inline(never)
    package mutating func grow(to needed: Int) {
        let size = max(needed, 2 &* bytes.count, 256)
        bytes.append(contentsOf: repeatElement(0, count: size &- bytes.count))
    }
}

extension [UInt8] {
    /// Replaces the contents by a copy of `source` and keeps the memory.
    ///
    /// If the length stays the same, as it often does from message to message, this costs no more than the
    /// copy.
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

    /// Overwrites the contents, which are then zeros, and keeps the memory.
    package mutating func wipe() { wipe(count) }

    /// Overwrites the first `length` bytes.
    fileprivate mutating func wipe(_ length: Int) {
        guard length > 0 else { return }
        withUnsafeMutableBufferPointer { memory in
            UnsafeMutableBufferPointer(rebasing: memory[..<length]).update(repeating: 0)
        }
    }

    @inline(never)
    package mutating func replaceMemory(with source: Span<UInt8>) {
        removeAll(keepingCapacity: true)
        append(addingCapacity: source.count) { $0.append(copying: source) }
    }
}
