// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdTestSupport
import Testing

/// Who asks for a name, and whose answer counts.
@Suite(.blocking) struct `Turns to ask for a name` {
    private func withTurns(
        age: Duration = .zero, _ body: @Sendable (LookupTurns, EventLoop) async throws -> Void
    ) async throws {
        try await onLoop { multis in
            try await body(LookupTurns(loop: multis.loop, age: age), multis.loop)
        }
    }

    /// The round of a turn that must be a scout's.
    private func round(_ turn: LookupTurns.Turn) throws -> Int {
        guard case .scout(let round) = turn else {
            Issue.record("it asks nobody")
            throw UpstreamError.dnsError
        }
        return round
    }

    @Test func `are of one round while nothing is found`() async throws {
        try await withTurns { turns, _ in
            let first = try await turns.turn(within: patience)
            let second = try await turns.turn(within: patience)
            #expect(try round(first) == round(second))
            turns.found(in: try round(first))
            #expect(try await turns.turn(within: patience) == .free)
            turns.end(first, because: nil)
            turns.end(second, because: nil)
            #expect(turns.findings == 1)
        }
    }

    @Test func `are of a new round once what was found is too old, whoever still asks`() async throws {
        try await withTurns(age: .milliseconds(50)) { turns, loop in
            let left = try await turns.turn(within: patience)
            turns.abandon(left)
            let scout = try await turns.turn(within: patience)
            #expect(try round(scout) == round(left))
            turns.found(in: try round(scout))
            turns.end(scout, because: nil)
            try await eventually(loop, "the addresses to be too old") { !turns.areKnown }
            // The lookup of the one who left is still under way.
            let next = try await turns.turn(within: patience)
            #expect(try round(next) > round(scout))
            // What it finds is of the round before.
            turns.found(in: try round(left))
            #expect(!turns.areKnown)
            turns.found(in: try round(next))
            #expect(turns.areKnown)
        }
    }

    @Test func `are of a new round after a doubt, and one asks for all`() async throws {
        try await withTurns { turns, loop in
            let left = try await turns.turn(within: patience)
            turns.abandon(left)
            let scout = try await turns.turn(within: patience)
            turns.found(in: try round(scout))
            try await eventually(loop, "a doubt") {
                turns.doubt()
                return !turns.areKnown
            }
            // Nobody waits for the end of the one who left, nor is told what was found before.
            let next = try await turns.turn(within: patience)
            #expect(try round(next) > round(scout))
            let error = await failure { () async throws(UpstreamError) in
                _ = try await turns.turn(within: .milliseconds(20))
            }
            #expect(error == .dnsTimeout, "it waits for the one that asks")
            // That one leaves too: another asks, in the same round, because nothing is found in it.
            turns.abandon(next)
            let last = try await turns.turn(within: patience)
            #expect(try round(last) == round(next))
            // A late failure of the round before is nobody's.
            turns.end(scout, because: .dnsError)
            turns.found(in: try round(last))
            #expect(try await turns.turn(within: patience) == .free)
        }
    }

    @Test func `are given to somebody who waits when one comes to nothing`() async throws {
        try await withTurns { turns, loop in
            var scouts: [LookupTurns.Turn] = []
            for _ in 0..<8 { scouts.append(try await turns.turn(within: patience)) }
            for failure in [UpstreamError.cancelled, .noDescriptors, .noThreads] {
                let scout = scouts.removeFirst()
                let timer = LoopTimer(loop: loop) { turns.end(scout, because: failure) }
                timer.set(after: .milliseconds(5))
                scouts.append(try await turns.turn(within: patience))
                #expect(try round(scouts[7]) == round(scout))
                timer.cancel()
            }
        }
    }
}
