// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPClient
import Testing

/// When a silent connection of HTTP/2 gets a PING, and what follows where nothing answers it; a tick is five seconds.
@Suite struct `The liveness of an HTTP2 connection` {
    private typealias Sight = LinkLiveness.Sight

    /// A connection on which an answer has come, and whose next request has just begun.
    private func begun(_ sight: Sight) -> LinkLiveness {
        var liveness = LinkLiveness()
        liveness.hasNewRequest = true
        let pings = liveness.resume(sight)
        #expect(!pings)
        return liveness
    }

    private func sight(received: UInt64 = 100) -> Sight {
        Sight(received: received, messageFrames: 2, sent: 100, isBusy: true)
    }

    private func steps(_ count: Int, _ liveness: inout LinkLiveness, _ sight: Sight) -> [LinkLiveness.Step] {
        var steps: [LinkLiveness.Step] = []
        for _ in 0..<count { steps.append(liveness.tick(sight)) }
        return steps
    }

    @Test func `is asked for after ten seconds, doubted after five more, and ends after thirty`() {
        var liveness = begun(sight())
        let seen = steps(8, &liveness, sight())
        #expect(seen == [.goOn, .ping, .doubt, .goOn, .goOn, .goOn, .goOn, .end])
    }

    @Test func `is asked for a request that finds no room, and what has come between two ticks counts`() {
        var liveness = begun(sight())
        _ = steps(1, &liveness, sight())
        let isAsked = liveness.heed(sight(received: 150))
        let heard = liveness.tick(sight(received: 150))
        let quiet = steps(2, &liveness, sight(received: 150))
        #expect(!isAsked && heard == .goOn && quiet == [.goOn, .ping], "it was heard of in the tick before")

        var silent = begun(sight())
        silent.hasNewRequest = false
        _ = steps(3, &silent, sight())
        let isAskedAtOnce = silent.heed(sight())
        #expect(isAskedAtOnce)
    }

    @Test func `ends sooner where the other kernel takes nothing either`() {
        var sight = sight()
        var liveness = begun(sight)
        (sight.untaken, sight.awaitsAcknowledgement) = (40, true)
        let seen = steps(5, &liveness, sight)
        #expect(seen == [.goOn, .ping, .doubt, .goOn, .end])
    }

    @Test func `is not judged by bytes that are on their way for a moment`() {
        var sight = sight()
        var liveness = begun(sight)
        let before = steps(4, &liveness, sight)
        (sight.sent, sight.untaken, sight.awaitsAcknowledgement) = (140, 40, true)
        let step = liveness.tick(sight)
        (sight.untaken, sight.awaitsAcknowledgement) = (0, false)
        let after = steps(3, &liveness, sight)
        #expect(before == [.goOn, .ping, .doubt, .goOn] && step == .goOn && after == [.goOn, .goOn, .end])
    }

    @Test func `is out of question while what was sent is being taken`() {
        var sight = sight()
        var liveness = begun(sight)
        (sight.sent, sight.untaken, sight.awaitsAcknowledgement) = (4_000_000, 3_900_000, true)
        for _ in 0..<20 {
            sight.untaken -= 100_000
            let step = liveness.tick(sight)
            #expect(step == .goOn)
        }
        // More that is given to a kernel that sends nothing is no sign of life.
        for expected in [LinkLiveness.Step.goOn, .ping, .doubt, .goOn, .end] {
            sight.sent += 1000
            sight.untaken += 1000
            let step = liveness.tick(sight)
            #expect(step == expected)
        }
    }

    @Test func `is out of question while the other kernel has no room, in front of which no PING gets`() {
        var sight = sight()
        var liveness = begun(sight)
        (sight.sent, sight.untaken) = (4_000_000, 3_900_000)
        let seen = steps(100, &liveness, sight)
        #expect(seen.allSatisfy { $0 == .goOn })
    }

    @Test func `is certain again with any byte`() {
        var liveness = begun(sight())
        let before = steps(4, &liveness, sight())
        let after = steps(3, &liveness, sight(received: 117))
        #expect(before == [.goOn, .ping, .doubt, .goOn] && after == [.goOn, .goOn, .goOn])
    }

    @Test func `costs an upstream that is quiet but there one PING in five minutes`() {
        var sight = sight()
        var liveness = begun(sight)
        var pings: [Int] = []
        for second in stride(from: 5, through: 1000, by: 5) where liveness.tick(sight) == .ping {
            pings.append(second)
            sight.received += 17
        }
        #expect(pings == [10, 315, 620, 925])
    }

    @Test func `costs an upstream that answers nothing but PINGs two, and one in five minutes`() {
        var sight = sight()
        var liveness = begun(sight)
        var pings: [Int] = []
        for tick in 1...400 {
            liveness.hasNewRequest = true
            guard liveness.tick(sight) == .ping else { continue }
            pings.append(tick)
            sight.received += 17
        }
        #expect(pings == [2, 5, 66, 127, 188, 249, 310, 371])
        // What it sends of a message gives it back.
        sight.messageFrames += 1
        sight.received += 50
        let seen = steps(3, &liveness, sight)
        #expect(seen == [.goOn, .goOn, .ping])
    }

    @Test func `is not asked for at rest, and with the next request after a long one`() {
        var sight = sight()
        var liveness = begun(sight)
        sight.received += 50
        sight.isBusy = false
        let seen = steps(3, &liveness, sight)
        #expect(seen == [.goOn, .goOn, .rest])
        liveness.hasNewRequest = true
        sight.isBusy = true
        let pings = liveness.resume(sight)
        let next = liveness.tick(sight)
        #expect(pings && next == .doubt)
    }

    @Test func `is asked for twice before requests that get no answer, however long it rests`() {
        var sight = sight()
        var liveness = begun(sight)
        var pings = 0
        for _ in 0..<40 {
            sight.isBusy = false
            while liveness.tick(sight) != .rest {}
            liveness.hasNewRequest = true
            sight.isBusy = true
            if liveness.resume(sight) { pings += 1 }
            sight.received += 17
            let step = liveness.tick(sight)
            #expect(step == .goOn)
        }
        #expect(pings == 2)
    }

    @Test func `is not asked for with a request before which something has come`() {
        var sight = sight()
        var liveness = begun(sight)
        sight.isBusy = false
        let seen = steps(2, &liveness, sight)
        #expect(seen == [.goOn, .rest])
        liveness.hasNewRequest = true
        sight.received += 17
        let pings = liveness.resume(sight)
        #expect(!pings)
    }
}
