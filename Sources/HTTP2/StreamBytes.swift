// SPDX-License-Identifier: Apache-2.0

/// Bytes of one stream that wait for their reader, the oldest first.
package struct StreamBytes {
    private var storage: [UInt8] = []
    private var start = 0

    package init() {}

    package var count: Int { storage.count - start }

    package var isEmpty: Bool { start == storage.count }

    package mutating func append(_ bytes: Span<UInt8>) {
        if isEmpty { removeAll() }
        bytes.withUnsafeBufferPointer { storage.append(contentsOf: $0) }
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if isEmpty { removeAll() }
        storage.append(contentsOf: bytes)
    }

    /// Lends the first `count` bytes.
    package func withFirst<Result, Failure: Error>(
        _ count: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(storage.span.extracting(start..<(start + count)))
    }

    package mutating func consume(_ count: Int) {
        precondition(count <= self.count, "more consumed than there is")
        start += count
        if isEmpty {
            removeAll()
        } else if start > 32 * 1024 {
            storage.removeFirst(start)
            start = 0
        }
    }

    /// Forgets everything; little memory is kept for what comes next.
    package mutating func removeAll() {
        start = 0
        storage.removeAll(keepingCapacity: storage.capacity <= 16 * 1024)
    }
}
