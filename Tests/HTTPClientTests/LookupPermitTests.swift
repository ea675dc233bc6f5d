// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPExchange
import BearerdTestSupport
import Testing

/// The rounds of lookups, and the answers that count.
@Suite(.blocking) struct `Permits to look up a name` {
    private func withPermits(
        age: Duration = .zero, _ body: @Sendable (LookupPermits, EventLoop) async throws -> Void
    ) async throws {
        try await onLoop { multis in
            try await body(LookupPermits(loop: multis.loop, age: age), multis.loop)
        }
    }

    /// The round of a permit that must be a lookup.
    private func round(_ permit: LookupPermits.Permit) throws -> Int {
        guard case .lookup(let round) = permit else {
            Issue.record("no lookup is permitted")
            throw UpstreamError.dnsError
        }
        return round
    }

    @Test func `are of one round while nothing is found`() async throws {
        try await withPermits { permits, _ in
            let first = try await permits.permit(within: patience)
            let second = try await permits.permit(within: patience)
            #expect(try round(first) == round(second))
            permits.found(in: try round(first))
            #expect(try await permits.permit(within: patience) == .knownAddresses)
            permits.end(first, because: nil)
            permits.end(second, because: nil)
            #expect(permits.findings == 1)
        }
    }

    @Test func `are of a new round once what was found is too old, whoever still asks`() async throws {
        try await withPermits(age: .milliseconds(50)) { permits, loop in
            let left = try await permits.permit(within: patience)
            permits.abandon(left)
            let lookup = try await permits.permit(within: patience)
            #expect(try round(lookup) == round(left))
            permits.found(in: try round(lookup))
            permits.end(lookup, because: nil)
            try await eventually(loop, "the addresses to be too old") { !permits.areKnown }
            // The lookup of the one who left is still under way.
            let next = try await permits.permit(within: patience)
            #expect(try round(next) > round(lookup))
            // What it finds is of the round before.
            permits.found(in: try round(left))
            #expect(!permits.areKnown)
            permits.found(in: try round(next))
            #expect(permits.areKnown)
        }
    }

    @Test func `are of a new round after a doubt, and one asks for all`() async throws {
        try await withPermits { permits, loop in
            let left = try await permits.permit(within: patience)
            permits.abandon(left)
            let lookup = try await permits.permit(within: patience)
            permits.found(in: try round(lookup))
            try await eventually(loop, "a doubt") {
                permits.doubt()
                return !permits.areKnown
            }
            // Nobody waits for the end of the one who left, nor is told what was found before.
            let next = try await permits.permit(within: patience)
            #expect(try round(next) > round(lookup))
            let error = await failure { () async throws(UpstreamError) in
                _ = try await permits.permit(within: .milliseconds(20))
            }
            #expect(error == .dnsTimeout, "it waits for the one that asks")
            // That one leaves too: another asks, in the same round, because nothing is found in it.
            permits.abandon(next)
            let last = try await permits.permit(within: patience)
            #expect(try round(last) == round(next))
            // A late failure of the round before is nobody's.
            permits.end(lookup, because: .dnsError)
            permits.found(in: try round(last))
            #expect(try await permits.permit(within: patience) == .knownAddresses)
        }
    }

    @Test func `are given to somebody who waits when one comes to nothing`() async throws {
        try await withPermits { permits, loop in
            var lookups: [LookupPermits.Permit] = []
            for _ in 0..<8 { lookups.append(try await permits.permit(within: patience)) }
            for failure in [UpstreamError.cancelled, .noDescriptors, .noThreads] {
                let lookup = lookups.removeFirst()
                let timer = LoopTimer(loop: loop) { permits.end(lookup, because: failure) }
                timer.set(after: .milliseconds(5))
                lookups.append(try await permits.permit(within: patience))
                #expect(try round(lookups[7]) == round(lookup))
                timer.cancel()
            }
        }
    }
}
