// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// Which callers' exchanges begin, and when they begin again.
@Suite struct `The exchanges of callers` {
    private let now = ContinuousClock.now
    private let exchanges = CallerExchanges()
    private let begun = Begun()

    /// The exchanges that were begun last, by caller.
    private final class Begun {
        var candidates: [CallerToken.Digest: CallerExchanges.Candidate] = [:]
    }

    private let here = CallerGroup.peer([1])
    private let there = CallerGroup.peer([2])
    private let failure = TokenFailure(.transient, .status(500), detail: "")

    private func caller(_ number: Int) throws -> CallerToken {
        try #require(CallerToken(authorization: Array("Bearer caller-\(number)".utf8)))
    }

    @discardableResult
    private func join(_ number: Int, of group: CallerGroup? = nil) throws -> OneTimeWaiter<CallerTokens.Known>
    {
        let waiter = OneTimeWaiter<CallerTokens.Known>()
        exchanges.join(
            waiter, for: .init(caller: try caller(number), group: group ?? here, peer: group ?? here))
        return waiter
    }

    private func end(_ number: Int) throws {
        exchanges.end(
            try #require(begun.candidates[try caller(number).digest]), with: .success(.refused))
    }

    /// Whether the exchange that begins is this caller's; nil for none.
    private func begins(_ number: Int?, after milliseconds: Int = 0) throws -> Bool {
        let expected = try number.map { try caller($0).digest }
        let next = exchanges.next(at: now + .milliseconds(milliseconds))
        if let next { begun.candidates[next.caller.digest] = next }
        return next?.caller.digest == expected
    }

    /// Makes the exchanges of these callers fail, one after the other.
    private func fail(_ numbers: [Int], of group: CallerGroup, after milliseconds: Int = 0) throws {
        for number in numbers {
            _ = exchanges.failures.failed(
                failure, for: try caller(number).digest, in: group,
                begunAt: now + .milliseconds(milliseconds), at: .calm(now + .milliseconds(milliseconds)))
        }
    }

    private func isBarred(_ number: Int, in group: CallerGroup, after milliseconds: Int) throws -> Bool {
        let moment = now + .milliseconds(milliseconds)
        return exchanges.failures.barrier(to: try caller(number).digest, in: group, at: moment) != nil
    }

    @Test func `begin in turn, a hundred at most, and not for who has left`() throws {
        for number in 0..<100 { try join(number) }
        for number in 0..<100 {
            let begins = try begins(number)
            #expect(begins, "\(number)")
        }
        try join(100).wake(with: .failure(.cancelled))
        try join(101)
        try join(101)
        #expect(exchanges.next(at: now) == nil)
        try end(50)
        let isNext = try begins(101)
        #expect(isNext)
        let left = try caller(100)
        #expect(!exchanges.isAwaited(left.digest))
        try end(51)
        #expect(exchanges.next(at: now) == nil)
    }

    @Test func `under way when all tokens are forgotten are for nobody who comes later`() throws {
        let early = try join(1)
        let queued = try join(2)
        var isBegun = try begins(1)
        #expect(isBegun)
        let first = try #require(begun.candidates[try caller(1).digest])
        exchanges.beginEpoch()
        let late = try join(1)
        let joined = try join(2)
        isBegun = try begins(2)
        #expect(isBegun, "what is queued has not begun, and serves all")
        isBegun = try begins(1)
        #expect(isBegun)
        exchanges.end(first, with: .success(.refused))
        #expect(early.isWoken && !late.isWoken)
        let isAwaited = exchanges.isAwaited(try caller(1).digest)
        #expect(isAwaited)
        try end(1)
        try end(2)
        #expect([late, queued, joined].allSatisfy { $0.isWoken })
    }

    @Test func `have a queue with an end, which those fill who still wait`() throws {
        for number in 0..<999 { try join(number) }
        #expect(exchanges.makeRoom(for: here))
        let last = try join(999)
        #expect(!exchanges.makeRoom(for: here))
        last.wake(with: .failure(.cancelled))
        #expect(exchanges.makeRoom(for: here))
        exchanges.stopQueued()
        #expect(exchanges.next(at: now) == nil)
    }

    @Test func `begin for each peer in turn, for whom another one leaves places and room`() throws {
        var made = try (0..<1000).map { try join($0, of: there) }
        #expect(!exchanges.makeRoom(for: there))
        for group in [here, .served] { #expect(exchanges.makeRoom(for: group)) }
        #expect(made.removeLast().isWoken && !made.contains { $0.isWoken }, "the last of the longest queue")
        for number in 0..<100 {
            let begins = try begins(number)
            #expect(begins, "\(number)")
        }
        #expect(exchanges.next(at: now) == nil)
        try join(2000)
        try join(2001)
        try join(2002, of: .served)
        var begun = [try begins(2000), try begins(2002), try begins(nil)]
        try end(0)
        begun.append(try begins(nil))
        try end(2000)
        begun.append(try begins(100))
        try end(1)
        begun.append(try begins(2001))
        #expect(begun == Array(repeating: true, count: 6))
    }

    @Test func `are held up only by failures of different callers, and whom nobody has tried by none`() throws
    {
        try fail([1, 1, 1], of: here)
        try join(2)
        try join(3)
        var begun = [try begins(2), try begins(3)]
        #expect(begun == [true, true] && exchanges.nextMoment == nil)
        try fail([2], of: here)
        for number in 4...6 { try join(number) }
        begun = [try begins(nil), try begins(nil, after: 19), try begins(4, after: 20)]
        #expect(begun == [true, true, true])
        #expect(exchanges.nextMoment == now + .milliseconds(40))
        try join(7, of: there)
        try join(8, of: .served)
        begun = [try begins(7, after: 20), try begins(8, after: 20)]
        #expect(begun == [true, true], "one peer's failures are no other's affair")
        exchanges.failures.succeeded(for: try caller(4).digest, in: [here])
        begun = [exchanges.nextMoment == nil, try begins(5, after: 21), try begins(6, after: 21)]
        #expect(begun == [true, true, true])
    }

    @Test func `of different peers that fail hold up all but those that were served`() throws {
        try fail([1], of: here)
        try fail([2], of: there)
        try join(3)
        try join(4, of: .peer([3]))
        try join(5, of: .served)
        try join(6, of: .served)
        var begun = [try begins(3), try begins(5), try begins(6), try begins(nil)]
        begun += [try begins(nil, after: 19), try begins(4, after: 20)]
        #expect(begun == Array(repeating: true, count: 6))
    }

    @Test func `wait until a caller, its peer and all are due, where those have failed`() throws {
        try fail([1], of: here)
        #expect(try isBarred(1, in: here, after: 199) && !isBarred(1, in: here, after: 200))
        #expect(try !isBarred(2, in: here, after: 0))
        try fail([2], of: here, after: 100)
        // The second step of the peer, 400 ms after its second failure.
        #expect(try isBarred(1, in: here, after: 499) && !isBarred(1, in: here, after: 500))
        try fail([3], of: .served)
        #expect(try isBarred(3, in: .served, after: 199) && !isBarred(3, in: .served, after: 200))
        // Different groups: the third step of all, 800 ms after its last failure.
        try fail([4], of: there, after: 200)
        #expect(try isBarred(1, in: here, after: 999) && !isBarred(1, in: here, after: 1000))
        let moment = now + .milliseconds(300)
        exchanges.failures.succeeded(for: try caller(5).digest, in: [there])
        #expect(try isBarred(1, in: here, after: 499) && !isBarred(1, in: here, after: 500))
        let refused = try caller(6).digest
        exchanges.failures.refused(refused, in: here)
        #expect(try !isBarred(1, in: here, after: 200))
        #expect(exchanges.failures.barrier(to: refused, in: here, at: moment) == nil)
    }

    @Test func `are asked to wait by a provider that means one caller, and others if they fail too`() throws {
        let busy = TokenFailure(.transient, .status(429), detail: "", retryAfter: .seconds(60))
        func fail(_ number: Int) throws -> Instant? {
            exchanges.failures.failed(
                busy, for: try caller(number).digest, in: here, begunAt: now, at: .calm(now))
        }
        #expect(try fail(1) == nil)
        #expect(try isBarred(1, in: here, after: 59_999) && !isBarred(2, in: here, after: 0))
        #expect(try fail(2) == now + .seconds(60))
        #expect(try !isBarred(3, in: here, after: 0))
    }

    @Test func `fail once where they fail together, and are the identity's affair where others fail too`()
        throws
    {
        var failures = CallerFailures()
        // Which caller's began and failed when, and until when all wait that have failed.
        let course: [(Int, Int, Int, Duration?)] = [
            (1, 0, 5000, nil), (2, 1000, 5000, .milliseconds(5200)), (2, 6000, 7000, .milliseconds(7200)),
            (3, 8000, 9000, .milliseconds(9400)), (4, 9500, 10_000, .milliseconds(10_800)),
        ]
        for (number, begun, moment, end) in course {
            let found = failures.failed(
                failure, for: try caller(number).digest, in: here, begunAt: now + .milliseconds(begun),
                at: .calm(now + .milliseconds(moment)))
            #expect(found == end.map { now + $0 }, "\(number) at \(moment)")
        }
        var alone = CallerFailures()
        let told = try (0..<3).map { step in
            let moment = now + .seconds(step)
            return alone.failed(
                failure, for: try caller(1).digest, in: here, begunAt: moment, at: .calm(moment)) != nil
        }
        #expect(told == [false, false, true], "it may be the only one")
    }

    @Test func `of ten thousand callers that failed are remembered, and of more the newest`() throws {
        var failures = CallerFailures()
        for number in 0..<10_001 {
            _ = failures.failed(
                failure, for: try caller(number).digest, in: .peer([UInt8](String(number).utf8)),
                begunAt: now, at: .calm(now))
        }
        let (first, last) = (try caller(0).digest, try caller(10_000).digest)
        #expect(failures.barrier(to: first, in: here, at: now) == nil)
        #expect(failures.barrier(to: last, in: here, at: now) != nil)
    }
}

extension Moment {
    /// A moment without jitter.
    fileprivate static func calm(_ now: Instant) -> Moment {
        Moment(now: now, wall: WallTime(secondsSinceEpoch: 0), jitter: 0)
    }
}
