// SPDX-License-Identifier: Apache-2.0

/// Byte arrays that are lent to connections while they have bytes to hold, and come back when they are idle.
///
/// Confined to its loop's thread. Ten thousand idle connections hold no buffer at all.
package final class StoragePool {
    /// Enough for nearly every head with a small body.
    package static let small = 16 * 1024
    /// For bodies: one `recv` and one `send` move this much.
    package static let large = 128 * 1024

    private var smallBlocks: [[UInt8]] = []
    private var largeBlocks: [[UInt8]] = []

    /// A block of at least `capacity` bytes whose contents are unspecified.
    func borrow(atLeast capacity: Int) -> [UInt8] {
        if capacity <= Self.small { return smallBlocks.popLast() ?? Self.block(of: Self.small) }
        if capacity <= Self.large { return largeBlocks.popLast() ?? Self.block(of: Self.large) }
        return Self.block(of: capacity)
    }

    /// Takes a block back; what exceeds the pool's bound is freed.
    func giveBack(_ block: consuming [UInt8]) {
        switch block.count {
        case Self.small where smallBlocks.count < 64: smallBlocks.append(block)
        case Self.large where largeBlocks.count < 4: largeBlocks.append(block)
        default: break
        }
    }

    /// Frees the blocks that nobody has borrowed.
    package func empty() {
        smallBlocks = []
        largeBlocks = []
    }

    private static func block(of capacity: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity) { _, count in count = capacity }
    }
}
