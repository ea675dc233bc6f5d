// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

@testable import BearerdHTTP2

@Suite struct `What is known of recent HTTP2 streams` {
    /// - Parameter stride: between ids; large ones meet in the table.
    @Test(arguments: [1, 2, 64, 4096] as [Int32])
    func `is what was said of each last`(stride: Int32) {
        var generator = RepeatableGenerator(seed: 1)
        var streams = RecentStreams<Int>(atMost: 1000)
        var expected: [Int32: Int] = [:]
        for step in 0..<20_000 {
            let id = Int32.random(in: 0..<300, using: &generator) * stride + 1
            let value: Int? = Bool.random(using: &generator) ? step : nil
            streams[id] = value
            expected[id] = value
            let other = Int32.random(in: 0..<300, using: &generator) * stride + 1
            #expect(streams[other] == expected[other])
        }
        #expect((0..<300).allSatisfy { streams[$0 * stride + 1] == expected[$0 * stride + 1] })
    }

    @Test func `is kept however many there are, and found`() {
        var streams = RecentStreams<Bool>(atMost: 10, keeping: { $0 })
        for id in 1...5000 { streams[Int32(2 * id + 1)] = true }
        #expect(streams.keptCount == 5000 && streams.lastForgotten == 0)
        #expect(streams[20_003] == nil)
        for id in 1...5000 { streams[Int32(2 * id + 1)] = id > 4990 ? true : id % 2 == 0 ? false : nil }
        #expect(streams.keptCount == 10 && streams.lastForgotten > 0)
        #expect(streams[9997] == true && streams[3] == nil)
        streams.capacity = 2
        streams[20_003] = false
        #expect(streams.keptCount == 10 && streams[20_003] == false)
        for id in 4991...5000 { streams[Int32(2 * id + 1)] = nil }
        #expect(streams.keptCount == 0)
    }

    @Test func `is forgotten of the older half when there are too many`() {
        var streams = RecentStreams<Int>(atMost: 100)
        for id in 1...100 { streams[Int32(id)] = id }
        #expect(streams.lastForgotten == 0)
        streams[101] = 101
        #expect(streams.lastForgotten == 50)
        for id in 1...101 { #expect(streams[Int32(id)] == (id > 50 ? id : nil)) }
    }
}
