// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import BearerdHTTP2

@Suite struct `Tables of HTTP2 streams` {
    private let table = StreamTable()

    private static func ids(_ table: StreamTable) -> [Int32] { table.all.map(\.id) }

    @Test func `a stream is found by its id until it is taken out`() {
        #expect(table.isEmpty && table[1] == nil && table.remove(1) == nil)
        let stream = HTTP2Stream(id: 1)
        table.insert(stream)
        #expect(table[1] === stream && table[3] == nil && table[33] == nil && table.count == 1)
        #expect(table.remove(1) === stream && table[1] == nil && table.isEmpty)
    }

    @Test func `it grows, and names streams in the order of their ids`() {
        let ids = (0..<500).map { Int32(2 * $0 + 1) }
        for id in ids.reversed() { table.insert(HTTP2Stream(id: id)) }
        #expect(Self.ids(table) == ids)
        #expect(ids.allSatisfy { table[$0]?.id == $0 })
        table.removeAll()
        #expect(table.isEmpty && table.all.isEmpty && table[1] == nil)
    }

    @Test func `ids that a peer has chosen to meet are found, and those that are not there are not`() {
        // All begin their search at one slot, or at the last, behind which it goes on with the first.
        let ids = (0..<7).map { Int32($0 * 1024 + 31) }
        for id in ids { table.insert(HTTP2Stream(id: id)) }
        for gone in ids {
            #expect(table.remove(gone)?.id == gone && table[gone] == nil)
            let rest = ids.filter { $0 > gone }
            #expect(Self.ids(table) == rest && rest.allSatisfy { table[$0] != nil })
        }
    }

    /// - Parameter stride: between ids; large ones meet in the table.
    @Test(arguments: [2, 32, 64, 1024] as [Int32])
    func `after any order of coming and going it holds what a dictionary holds`(stride: Int32) {
        var random = Numbers(state: UInt64(stride))
        var expected: [Int32: HTTP2Stream] = [:]
        for step in 0..<2000 {
            let id = 1 + stride * Int32(random.next() % 40)
            if expected[id] == nil {
                let stream = HTTP2Stream(id: id)
                expected[id] = stream
                table.insert(stream)
            } else {
                #expect(table.remove(id) === expected.removeValue(forKey: id), "step \(step)")
            }
            #expect(table.count == expected.count)
            #expect(
                (0..<40).allSatisfy { table[1 + stride * $0] === expected[1 + stride * $0] }, "step \(step)")
        }
        #expect(Self.ids(table) == expected.keys.sorted())
    }
}

/// Numbers that are the same in each run.
private struct Numbers: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state >> 33
    }
}
