// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Byte arrays that connections borrow while they hold data; an idle connection has none.
///
/// Confined to its loop's thread.
package final class StoragePool {
    /// The size for heads and small bodies, in bytes.
    package static let small = 16 * 1024
    /// The size for bodies, in bytes: one `recv` and one `send` move this much.
    package static let large = 128 * 1024

    /// The small block that was given back last, which most often is the next one to be lent; empty while there is none.
    private var handy: [UInt8] = []
    /// The same for large blocks.
    private var handyLarge: [UInt8] = []
    private let smallBlocks = Exclusive<[[UInt8]]>([])
    private let largeBlocks = Exclusive<[[UInt8]]>([])

    /// Returns a block of at least `capacity` bytes with unspecified contents.
    func borrow(atLeast capacity: Int) -> [UInt8] {
        var block: [UInt8] = []
        if capacity <= Self.small {
            swap(&block, &handy)
            return block.isEmpty ? smallBlocks.value.popLast() ?? Self.block(of: Self.small) : block
        }
        if capacity <= Self.large {
            swap(&block, &handyLarge)
            return block.isEmpty ? largeBlocks.value.popLast() ?? Self.block(of: Self.large) : block
        }
        return Self.block(of: capacity)
    }

    /// Takes a block back, and frees it if the pool is full.
    func giveBack(_ block: consuming [UInt8]) {
        if block.count == Self.small, handy.isEmpty {
            handy = block
        } else if block.count == Self.large, handyLarge.isEmpty {
            handyLarge = block
        } else {
            keep(block)
        }
    }

    @inline(never)
    private func keep(_ block: consuming [UInt8]) {
        switch block.count {
        case Self.small where smallBlocks.value.count < 64: smallBlocks.value.append(block)
        case Self.large where largeBlocks.value.count < 3: largeBlocks.value.append(block)
        default: break
        }
    }

    /// Frees all blocks that are not lent.
    package func empty() {
        handy = []
        handyLarge = []
        smallBlocks.value = []
        largeBlocks.value = []
    }

    private static func block(of capacity: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity) { _, count in count = capacity }
    }
}
