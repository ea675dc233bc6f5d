// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

/// Which callers' exchanges begin, and when they begin again.
@Suite struct `The exchanges of callers` {
    private let now = ContinuousClock.now
    private let exchanges = CallerExchanges()

    private func caller(_ number: Int) throws -> CallerToken {
        try #require(CallerToken(authorization: Array("Bearer caller-\(number)".utf8)))
    }

    @discardableResult
    private func join(_ number: Int) throws -> TokenWaiter<CallerTokens.Known> {
        let waiter = TokenWaiter<CallerTokens.Known>(deadline: now)
        exchanges.join(waiter, for: try caller(number))
        return waiter
    }

    private func end(_ number: Int) throws {
        exchanges.end(try caller(number).digest, with: .success(.refused))
    }

    /// Whether the exchange that begins is this caller's; nil for none.
    private func begins(_ number: Int?, isProbing: Bool = false) throws -> Bool {
        let expected = try number.map { try caller($0).digest }
        return exchanges.next(isProbing: isProbing)?.digest == expected
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
        #expect(exchanges.next(isProbing: false) == nil)
        try end(50)
        let isNext = try begins(101)
        #expect(isNext)
        let left = try caller(100)
        #expect(!exchanges.isAwaited(left.digest))
        try end(51)
        #expect(exchanges.next(isProbing: false) == nil)
    }

    @Test func `have a queue with an end, which those fill who still wait`() throws {
        for number in 0..<999 { try join(number) }
        #expect(!exchanges.isFull())
        let last = try join(999)
        #expect(exchanges.isFull())
        last.wake(with: .failure(.cancelled))
        #expect(!exchanges.isFull())
        exchanges.endQueued(with: .unavailable(retryAfter: .seconds(1)))
        #expect(exchanges.next(isProbing: false) == nil)
    }

    @Test func `begin one by one while the provider is of no use, beside those from before`() throws {
        for number in 0..<4 { try join(number) }
        var begun = [try begins(0), try begins(1, isProbing: true), try begins(nil, isProbing: true)]
        try end(0)
        begun.append(try begins(nil, isProbing: true))
        try end(1)
        begun += [try begins(2, isProbing: true), try begins(nil, isProbing: true), try begins(3)]
        #expect(begun == Array(repeating: true, count: 7))
    }

    @Test func `fail once where they fail together, and later for each caller that is new`() throws {
        var failures = CallerFailures()
        let failure = TokenFailure(.transient, .status(500), detail: "")
        // Which caller's began and failed when, and whether the back-off of all doubles for it.
        let course = [
            (1, 0, 5, true), (2, 1, 6, false), (3, 7, 8, true), (3, 9, 10, false), (3, 11, 20, false),
        ]
        for (number, begun, moment, isNews) in course {
            let found = failures.failed(
                failure, for: try caller(number).digest, begunAt: now + .seconds(begun),
                at: now + .seconds(moment), jitter: 0)
            #expect(found == isNews, "\(number) at \(moment)")
        }
        let (third, first) = (try caller(3).digest, try caller(1).digest)
        #expect(failures.barrier(to: third, at: now + .seconds(20)) == .unavailable(retryAfter: .seconds(1)))
        #expect(failures.barrier(to: third, at: now + .milliseconds(20_800)) == nil)
        #expect(failures.barrier(to: first, at: now + .seconds(20)) == nil)
        failures.succeeded(for: third)
        #expect(failures.barrier(to: third, at: now + .seconds(20)) == nil)
    }
}
