// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import Testing

struct `The wait for an upstream` {
    private let start = CoarseInstant.now

    @Test func `nothing is known of an upstream that has closed nothing`() {
        var patience = LearnedKeepAlive()
        #expect(patience.limit(at: start) == nil)
        patience.sawLife(after: .seconds(100))
        #expect(patience.limit(at: start) == nil)
    }

    @Test func `connections are used for half of the time after which one was closed`() {
        var patience = LearnedKeepAlive()
        patience.sawEnd(after: .seconds(5), requestsServed: 1_000, at: start)
        #expect(patience.limit(at: start) == .milliseconds(2500))
        patience.sawEnd(after: .seconds(1), requestsServed: 1_000, at: start)
        #expect(patience.limit(at: start) == .milliseconds(500))
        patience.sawEnd(after: .seconds(20), requestsServed: 1, at: start)
        #expect(patience.limit(at: start) == .milliseconds(500))
    }

    @Test func `none is used again where they are closed right after an answer`() {
        var patience = LearnedKeepAlive()
        patience.sawEnd(after: .milliseconds(4), requestsServed: 1, at: start)
        #expect(patience.limit(at: start) == .zero)
    }

    @Test func `an end after many requests is of their number`() {
        var patience = LearnedKeepAlive()
        patience.sawEnd(after: .milliseconds(1), requestsServed: 100, at: start)
        #expect(patience.limit(at: start) == nil)
    }

    @Test func `a minute without another such end is enough to try again`() {
        for after in [Duration.zero, .seconds(1)] {
            var patience = LearnedKeepAlive()
            patience.sawEnd(after: after, requestsServed: 1, at: start)
            patience.sawEnd(after: after * 5 / 4, requestsServed: 1, at: start + .seconds(50))
            #expect(patience.limit(at: start + .seconds(100)) == after / 2)
            patience.sawEnd(after: .seconds(9), requestsServed: 1, at: start + .seconds(100))
            #expect(patience.limit(at: start + .seconds(109)) == after / 2)
            #expect(patience.limit(at: start + .seconds(111)) == nil)
        }
    }

    @Test func `a connection that lives longer proves it wrong`() {
        for (after, short, long) in [(0.0, 1.9, 2.0), (3.0, 5.9, 6.0)] {
            var patience = LearnedKeepAlive()
            patience.sawEnd(after: .seconds(after), requestsServed: 1, at: start)
            patience.sawLife(after: .seconds(short))
            #expect(patience.limit(at: start) == .seconds(after / 2))
            patience.sawLife(after: .seconds(long))
            #expect(patience.limit(at: start) == nil)
        }
    }

    @Test(arguments: [(0, 0.0), (1, 0.5), (2, 1.0), (5, 4.0), (75, 74.0)])
    func `what is announced is kept a second below, or half of it`(seconds: Int, limit: Double) {
        #expect(LearnedKeepAlive.limit(announced: .seconds(seconds)) == .seconds(limit))
    }
}
