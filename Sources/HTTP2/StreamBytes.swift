// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Bytes of one stream that wait for their reader, the oldest first.
package struct StreamBytes {
    private var block = ByteBlock()
    private var start = 0

    /// More memory than this is not kept for what comes next.
    private static let keptCapacity = 16 * 1024

    package init() {}

    package var count: Int { block.count - start }

    package var isEmpty: Bool { start == block.count }

    package mutating func append(_ bytes: Span<UInt8>) {
        // Before more memory is taken: of streams that are served in turn hardly one is ever empty.
        if start > 0, block.count + bytes.count > block.bytes.count { removeConsumed() }
        block.append(bytes)
    }

    private mutating func removeConsumed() {
        block.removeFirst(start)
        start = 0
    }

    /// Lends the first `count` bytes.
    package func withFirst<Result, Failure: Error>(
        _ count: Int, _ body: (Span<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        precondition(count <= self.count, "more asked for than there is")
        return try body(block.bytes.span.extracting(start..<(start + count)))
    }

    package mutating func consume(_ count: Int) {
        precondition(count <= self.count, "more consumed than there is")
        start += count
        if isEmpty {
            removeAll()
        } else if start > 32 * 1024 {
            removeConsumed()
        }
    }

    /// Forgets everything; little memory is kept for what comes next.
    package mutating func removeAll() {
        start = 0
        block.removeAll(keepingCapacity: block.bytes.count <= Self.keptCapacity)
    }

    /// Forgets everything, and keeps no more memory than a small message needs.
    mutating func letGo() {
        start = 0
        block.removeAll(keepingCapacity: block.bytes.count <= 4 * 1024)
    }
}
