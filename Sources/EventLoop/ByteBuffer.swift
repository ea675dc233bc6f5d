// SPDX-License-Identifier: Apache-2.0

/// Received bytes that have not been consumed, in storage borrowed from a ``StoragePool``.
package struct ByteBuffer {
    private var storage: [UInt8] = []
    private var readerIndex = 0
    private var writerIndex = 0

    package init() {}

    /// The number of unconsumed bytes.
    package var count: Int { writerIndex - readerIndex }
    package var isEmpty: Bool { readerIndex == writerIndex }

    /// Calls `body` with the unconsumed bytes, in place.
    @inline(__always)
    package func withReadable<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.span.extracting(readerIndex..<writerIndex))
    }

    /// Drops the first `count` unconsumed bytes.
    package mutating func consume(_ count: Int) {
        precondition(count <= self.count, "more consumed than there is")
        readerIndex += count
        if readerIndex == writerIndex {
            readerIndex = 0
            writerIndex = 0
        }
    }

    /// Makes room for at least `minimum` more bytes or, if the buffer is empty, for `capacity` bytes.
    mutating func makeRoom(minimum: Int, capacity: Int, pool: StoragePool) {
        if isEmpty {
            guard storage.count < capacity else { return }
            release(to: pool)
            storage = pool.borrow(atLeast: capacity)
            return
        }
        guard storage.count - writerIndex < minimum else { return }
        let unread = count
        var target = storage
        if storage.count - unread < minimum {
            target = pool.borrow(atLeast: storage.count * 2)
        }
        target.replaceSubrange(0..<unread, with: storage[readerIndex..<writerIndex])
        if target.count != storage.count { pool.giveBack(storage) }
        storage = target
        readerIndex = 0
        writerIndex = unread
    }

    /// Gives the storage back if the buffer is empty, so that an idle connection costs none.
    mutating func releaseIfEmpty(to pool: StoragePool) {
        if isEmpty { release(to: pool) }
    }

    private mutating func release(to pool: StoragePool) {
        guard !storage.isEmpty else { return }
        let block = storage
        storage = []
        pool.giveBack(block)
    }

    /// Calls `receive` with the free tail and counts the bytes that it wrote.
    @inline(__always)
    mutating func fill(_ receive: (UnsafeMutableRawBufferPointer) -> WireResult) -> WireResult {
        let start = writerIndex
        let result = storage.withUnsafeMutableBytes { bytes in
            receive(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        if case .moved(let count) = result { writerIndex += count }
        return result
    }

    /// The number of bytes that ``fill(_:)`` can take.
    var room: Int { storage.count - writerIndex }
}
