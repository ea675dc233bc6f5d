// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A request that waits for metadata or a credential before it goes out, or before it does so once more.
@Suite struct `A request that is being prepared` {
    /// One that nobody has seen.
    private func preparing() throws -> (run: EngineRun, ticket: Ticket) {
        let run = EngineRun()
        run.begins = false
        let ticket = try #require(run.play(.started).asked)
        run.pass(.seconds(60))
        #expect(run.play(.timePassed).probed == nil, "the provider is not to blame")
        return (run, ticket)
    }

    /// One that went out, found the provider silent, and was left for others, who have sent the token.
    private func takenUp(
        before answer: (EngineRun, Ticket) -> EngineEvent?
    ) throws -> (
        run: EngineRun, ticket: Ticket, actions: [EngineAction]
    ) {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        run.pass(.seconds(11))
        run.play(.timePassed)
        #expect(run.play(.roomWanted).releases == [true])
        run.isMarked = true
        if let event = answer(run, ticket) { run.play(event) }
        run.pass(.seconds(2))
        return (run, ticket, run.play(.timePassed))
    }

    @Test func `makes way for a person in another process`() throws {
        let (run, ticket) = try preparing()
        run.isClaimed = true
        run.pass(.milliseconds(500))
        let actions = run.play(.timePassed)
        #expect(
            actions.hungUp == [ticket] && actions.releases == [false], "no mark: nobody has seen the token")
        #expect(!run.engine.wants(ticket) && !run.engine.session.isDoubted)
        (run.isClaimed, run.begins) = (false, true)
        run.pass(.seconds(2))
        #expect(run.play(.timePassed).asked != nil)
    }

    @Test func `makes way for a person in another process once what is unwritten is written`() throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        run.begins = false
        let second = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 2, until: run.now)).asked)
        (run.refusesWrites, run.isClaimed) = (false, true)
        run.pass(.seconds(6))
        let actions = run.play(.timePassed)
        #expect(actions.hungUp == [second] && actions.saved.count == 1 && actions.releases == [false])
        #expect(!run.stored.isDoubted && run.stored.refreshToken?.matches(Secret("two")) == true)
    }

    @Test func `makes way for a command`() throws {
        let (run, ticket) = try preparing()
        let actions = run.play(.commanded(1, .importing(SessionImport(refreshToken: Secret("theirs")))))
        #expect(actions.hungUp == [ticket] && actions.isFinished(1))
        #expect(run.stored.refreshToken?.matches(Secret("theirs")) == true)
        #expect(actions.asked != nil, "the attempt goes on with what there is now")
    }

    @Test func `ends where its target leaves, and leaves no mark`() throws {
        for isLast in [true, false] {
            let (run, ticket) = try preparing()
            if !isLast { run.join(1) }
            let actions = run.play(isLast ? .targetLeaves(0) : .targetLeft(0))
            #expect(actions.hungUp == [ticket] && actions.releases == [false])
            #expect(!run.engine.session.isDoubted)
        }
    }

    @Test func `leaves no mark at the end`() throws {
        let (run, ticket) = try preparing()
        let actions = run.play(.stopped)
        #expect(actions.hungUp == [ticket] && actions.releases == [false])
    }

    @Test func `leaves an earlier one where it is, and goes first where somebody claims the lease`() throws {
        let run = EngineRun()
        let first = try #require(run.play(.started).asked)
        run.pass(.seconds(11))
        let question = try #require(run.play(.timePassed).probed)
        run.play(.probed(question, nil))
        run.pass(.seconds(5))
        let another = try #require(run.play(.timePassed).probed)
        run.begins = false
        let second = try #require(run.play(.probed(another, nil)).asked)
        #expect(run.play(.roomWanted).hungUp == [second])
        #expect(run.engine.adrift?.requests == [first])
        run.pass(.seconds(2))
        run.play(.timePassed)
        run.play(.requestBegan(second))
        let answered = run.play(run.answer(first, refreshToken: "two"))
        #expect(answered.saved.first?.matches(Secret("two")) == true)
    }

    @Test func `is not sent anew once others have had the lease`() throws {
        let (run, ticket, _) = try takenUp { _, _ in nil }
        guard case .asking(let asking) = run.engine.phase else {
            Issue.record("it is not taken up")
            return
        }
        #expect(asking.requests == [ticket] && !run.engine.wants(ticket))
        let actions = run.play(run.withheld(ticket))
        #expect(actions.releases == [true] && run.engine.session.isDoubted)
    }

    @Test(arguments: [TokenFailure.Reason.superseded, .status(503)])
    func `leaves the doubt that others have brought, whatever has become of it`(
        reason: TokenFailure.Reason
    )
        throws
    {
        let (run, _, actions) = try takenUp {
            $0.failed($1, reason, wasSent: reason != .superseded)
        }
        #expect(actions.releases == [true] && run.engine.session.isDoubted)
        run.pass(.seconds(2))
        let next = run.play(.timePassed)
        #expect(next.asked == nil && next.probed != nil)
    }
}
