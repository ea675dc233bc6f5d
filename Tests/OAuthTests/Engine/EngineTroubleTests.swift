// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// Targets of one identity, whose provider fails for reasons that say nothing of what is asked for.
@Suite struct `A provider in trouble` {
    /// An engine with four targets that asks for the first one's token.
    private func asking() throws -> (run: EngineRun, first: Ticket) {
        let run = EngineRun()
        for id in 1...3 { run.join(id) }
        return (run, try #require(run.play(.started).asked))
    }

    private func busy(
        _ run: EngineRun, _ ticket: Ticket, _ reason: TokenFailure.Reason = .status(429),
        retryAfter: Duration? = nil
    ) -> [EngineAction] {
        let failure = TokenFailure(.transient, reason, detail: "", retryAfter: retryAfter)
        let outcome = TokenRequestResult(result: .failure(failure), sentAt: run.now, wall: run.wall)
        return run.play(.answered(ticket, TokenRequestReport(outcome: outcome)))
    }

    @Test func `is asked for nothing before the time that it told`() throws {
        let (run, first) = try asking()
        #expect(busy(run, first, retryAfter: .seconds(60)).asked == nil)
        for _ in 0..<59 {
            run.pass(.seconds(1))
            #expect(run.play(.timePassed).asked == nil)
        }
        run.pass(.seconds(1))
        let actions = run.play(.timePassed)
        #expect(actions.askedTarget == 1, "the one that was refused goes last")
        let next = run.play(run.answer(try #require(actions.asked), refreshToken: "two"))
        #expect(next.askedTarget == 2, "it answers: the others follow")
    }

    @Test func `is asked less and less often, as if there were one target`() throws {
        let (run, first) = try asking()
        var (ticket, count) = (Optional(first), 0)
        for _ in 0..<250 {
            while let asked = ticket {
                count += 1
                ticket = busy(run, asked).asked
            }
            run.pass(.milliseconds(100))
            ticket = run.play(.timePassed).asked
        }
        #expect(6...8 ~= count, "in 25 seconds")
    }

    @Test func `answers requests for the others at once, too`() throws {
        let (run, first) = try asking()
        _ = busy(run, first, retryAfter: .seconds(60))
        let end = run.now + .seconds(10)
        #expect(run.play(.tokenNeeded(2, by: 1, until: end, isRenewed: false)).failed == [1])
        #expect(run.play(.refreshRequested(2, TokenAdditions(), by: 2, until: end)).askedTarget == 2)
    }

    @Test func `for one target alone leaves the others theirs`() throws {
        let (run, first) = try asking()
        var actions = busy(run, first, .status(500))
        for count in 0..<20 {
            run.pass(.seconds(40))
            actions = run.play(.timePassed)
            for _ in 0..<8 {
                guard let ticket = actions.asked, let target = actions.askedTarget else { break }
                actions =
                    target == 0
                    ? busy(run, ticket, .status(500))
                    : run.play(run.answer(ticket, refreshToken: "\(count) \(target)"))
            }
            #expect((1...3).allSatisfy { run.engine.targets[$0]?.usable(at: run.now) != nil })
        }
    }

    @Test func `is not said of what is wrong with a target`() throws {
        let (run, first) = try asking()
        let failure = TokenFailure(.misconfigured, .refused(.invalidScope), detail: "")
        let outcome = TokenRequestResult(result: .failure(failure), sentAt: run.now, wall: run.wall)
        let actions = run.play(.answered(first, TokenRequestReport(outcome: outcome)))
        #expect(actions.askedTarget == 1)
    }
}
