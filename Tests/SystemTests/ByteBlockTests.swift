// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import Testing

@Suite struct `A block of bytes` {
    private func content(_ block: ByteBlock) -> [UInt8] { Array(block.bytes.prefix(block.count)) }

    @Test func `holds what was appended, however much`() {
        var block = ByteBlock()
        var expected: [UInt8] = []
        for length in [0, 1, 255, 256, 1_000, 3, 70_000] {
            let piece = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ length) }
            block.append(piece.span)
            block.append(UInt8(truncatingIfNeeded: length))
            expected += piece + [UInt8(truncatingIfNeeded: length)]
        }
        #expect(content(block) == expected)
        block.removeLast(70_001)
        #expect(content(block) == expected.dropLast(70_001))
    }

    @Test func `holds what is written into its room, and no more`() {
        var block = ByteBlock()
        var expected: [UInt8] = []
        for (room, length) in [(0, 0), (10, 3), (3, 3), (300, 299), (256, 0), (70_000, 1), (1, 1)] {
            let piece = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ room) }
            block.append(room: room) { output in
                #expect(output.freeCapacity == room && output.isEmpty)
                output.append(copying: piece.span)
            }
            expected += piece
            #expect(content(block) == expected)
        }
    }

    @Test func `what is removed from its front is what came first`() {
        var block = ByteBlock()
        block.append([1, 2, 3, 4, 5].span)
        block.removeFirst(0)
        block.removeFirst(2)
        #expect(content(block) == [3, 4, 5])
        block.removeFirst(3)
        #expect(block.isEmpty)
    }

    @Test(arguments: [true, false])
    func `is empty once emptied, and takes new bytes`(keepingCapacity: Bool) {
        var block = ByteBlock()
        block.append([1, 2, 3].span)
        block.removeAll(keepingCapacity: keepingCapacity)
        #expect(block.isEmpty && block.bytes.isEmpty == !keepingCapacity)
        block.append([4].span)
        #expect(content(block) == [4])
    }

    @Test func `is its owner's alone`() {
        var block = ByteBlock()
        block.append([1, 2, 3].span)
        let copy = block
        block.removeAll(keepingCapacity: true)
        block.append([9, 9, 9, 9].span)
        #expect(content(copy) == [1, 2, 3] && content(block) == [9, 9, 9, 9])
    }

    @Test(arguments: [[], [1], [4, 5, 6], [1, 2, 3, 4, 5]])
    func `an array may get other bytes of any number`(bytes: [UInt8]) {
        var array: [UInt8] = [7, 8, 9]
        array.replaceAll(with: bytes.span)
        #expect(array == bytes)
    }
}
