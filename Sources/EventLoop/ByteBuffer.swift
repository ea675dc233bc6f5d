// SPDX-License-Identifier: Apache-2.0

package import BearerdSystem

/// Received bytes that have not been consumed, in storage borrowed from a ``StoragePool``.
///
/// A request looks into two buffers twenty times: what they hold is lent, not copied, and inlined where it is asked for.
/// Confined to its loop's thread.
package struct ByteBuffer: ~Copyable {
    /// The contents of a buffer; package, because only what other modules may see is inlined there.
    package struct Contents {
        package var storage: [UInt8] = []
        package var readerIndex = 0
        package var writerIndex = 0

        @inline(__always)
        package func withReadable<Result, Failure: Error>(
            _ body: (Span<UInt8>) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try body(storage.span.extracting(readerIndex..<writerIndex))
        }
    }

    package let contents = Exclusive(Contents())

    package init() {}

    /// The number of unconsumed bytes.
    @inline(__always)
    package var count: Int { contents.value.writerIndex &- contents.value.readerIndex }
    @inline(__always)
    package var isEmpty: Bool { contents.value.writerIndex == contents.value.readerIndex }

    /// Calls `body` with the unconsumed bytes, in place.
    @inline(__always)
    package func withReadable<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Held, not lent: what it calls may close the connection, which empties the buffer.
        let held = contents.value
        return try held.withReadable(body)
    }

    /// Calls `body` with the unconsumed bytes; meanwhile nobody may change the buffer, not even by closing the connection.
    @inline(__always)
    package func lendReadable<Result, Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try contents.value.withReadable(body)
    }

    /// Drops the first `count` unconsumed bytes.
    package func consume(_ count: Int) { contents.value.consume(count) }

    /// Makes room for at least `minimum` more bytes or, if the buffer is empty, for `capacity` bytes.
    func makeRoom(minimum: Int, capacity: Int, pool: StoragePool) {
        contents.value.makeRoom(minimum: minimum, capacity: capacity, pool: pool)
    }

    /// Gives the storage back if the buffer is empty, so that an idle connection costs none.
    func releaseIfEmpty(to pool: StoragePool) {
        if isEmpty { contents.value.release(to: pool) }
    }

    /// Gives storage back that is larger than a small block, if the buffer is empty.
    func shrinkIfEmpty(to pool: StoragePool) {
        if isEmpty, contents.value.storage.count > StoragePool.small { contents.value.release(to: pool) }
    }

    /// Calls `receive` with the free tail and counts the bytes that it wrote; nobody may use the buffer meanwhile.
    @inline(__always)
    func fill(_ receive: (UnsafeMutableRawBufferPointer) -> WireResult) -> WireResult {
        contents.value.fill(receive)
    }

    /// The number of bytes that ``fill(_:)`` can take.
    var room: Int { contents.value.storage.count - contents.value.writerIndex }
}

extension ByteBuffer.Contents {
    private var isEmpty: Bool { readerIndex == writerIndex }

    fileprivate mutating func consume(_ count: Int) {
        precondition(count <= writerIndex &- readerIndex, "more consumed than there is")
        readerIndex += count
        if readerIndex == writerIndex {
            readerIndex = 0
            writerIndex = 0
        }
    }

    fileprivate mutating func makeRoom(minimum: Int, capacity: Int, pool: StoragePool) {
        let held = storage.count
        if isEmpty {
            guard held < capacity else { return }
            release(to: pool)
            storage = pool.borrow(atLeast: capacity)
            return
        }
        guard held - writerIndex < minimum else { return }
        moveUnread(to: held - (writerIndex - readerIndex) < minimum ? held * 2 : held, pool)
    }

    /// Moves the unconsumed bytes to the beginning of a block of that size.
    private mutating func moveUnread(to size: Int, _ pool: StoragePool) {
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

    fileprivate mutating func release(to pool: StoragePool) {
        guard !storage.isEmpty else { return }
        var block: [UInt8] = []
        swap(&block, &storage)
        pool.giveBack(block)
    }

    @inline(__always)
    fileprivate mutating func fill(_ receive: (UnsafeMutableRawBufferPointer) -> WireResult) -> WireResult {
        let start = writerIndex
        let result = storage.withUnsafeMutableBytes { bytes in
            receive(UnsafeMutableRawBufferPointer(rebasing: bytes[start...]))
        }
        if case .moved(let count) = result { writerIndex += count }
        return result
    }
}
