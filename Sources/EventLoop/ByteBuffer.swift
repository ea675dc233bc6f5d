// SPDX-License-Identifier: Apache-2.0

/// Received bytes that have not been consumed, in storage borrowed from a ``StoragePool``.
///
/// An object with private parts, of which the compiler proves what it has to check at run time for a variable that others
/// see: a request looks into two buffers twenty times, which cost 1,300 instructions. Confined to its loop's thread.
package final class ByteBuffer {
    private var storage: [UInt8] = []
    private var readerIndex = 0
    private var writerIndex = 0

    package init() {}

    /// The number of unconsumed bytes.
    package var count: Int { writerIndex &- readerIndex }
    package var isEmpty: Bool { readerIndex == writerIndex }

    /// Calls `body` with the unconsumed bytes, in place.
    @inline(__always)
    package func withReadable<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let (bytes, range) = readable
        return try body(bytes.span.extracting(range))
    }

    /// The storage, and where the unconsumed bytes are in it: for who is asked so often that a generic call is dear.
    package var readable: (bytes: [UInt8], range: Range<Int>) {
        (storage, readerIndex..<writerIndex)
    }

    /// Drops the first `count` unconsumed bytes.
    package func consume(_ count: Int) {
        precondition(count <= self.count, "more consumed than there is")
        readerIndex += count
        if readerIndex == writerIndex {
            readerIndex = 0
            writerIndex = 0
        }
    }

    /// Makes room for at least `minimum` more bytes or, if the buffer is empty, for `capacity` bytes.
    func makeRoom(minimum: Int, capacity: Int, pool: StoragePool) {
        let held = storage.count
        if isEmpty {
            guard held < capacity else { return }
            release(to: pool)
            storage = pool.borrow(atLeast: capacity)
            return
        }
        guard held - writerIndex < minimum else { return }
        moveUnread(to: held - count < minimum ? held * 2 : held, pool)
    }

    /// Moves the unconsumed bytes to the beginning of a block of that size.
    private func moveUnread(to size: Int, _ pool: StoragePool) {
        let old = storage
        let unread = readerIndex..<writerIndex
        storage = []
        var target = size == old.count ? old : pool.borrow(atLeast: size)
        target.replaceSubrange(0..<unread.count, with: old[unread])
        if target.count != old.count { pool.giveBack(old) }
        storage = target
        readerIndex = 0
        writerIndex = unread.count
    }

    /// Gives the storage back if the buffer is empty, so that an idle connection costs none.
    func releaseIfEmpty(to pool: StoragePool) {
        if isEmpty { release(to: pool) }
    }

    /// Gives storage back that is larger than a small block, if the buffer is empty.
    func shrinkIfEmpty(to pool: StoragePool) {
        if isEmpty, storage.count > StoragePool.small { release(to: pool) }
    }

    private func release(to pool: StoragePool) {
        guard !storage.isEmpty else { return }
        var block: [UInt8] = []
        swap(&block, &storage)
        pool.giveBack(block)
    }

    /// Calls `receive` with the free tail and counts the bytes that it wrote.
    @inline(__always)
    func fill(_ receive: (UnsafeMutableRawBufferPointer) -> WireResult) -> WireResult {
        // Lent, not accessed for as long as `receive` runs: nobody else finds the bytes meanwhile.
        var block: [UInt8] = []
        swap(&block, &storage)
        let start = writerIndex
        let result = block.withUnsafeMutableBytes { bytes in
            receive(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        precondition(storage.isEmpty, "a buffer was used while it was filled")
        swap(&block, &storage)
        if case .moved(let count) = result { writerIndex += count }
        return result
    }

    /// The number of bytes that ``fill(_:)`` can take.
    var room: Int { storage.count - writerIndex }
}
