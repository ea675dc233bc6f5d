// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A person in another process who waits for the lock that a refresh keeps.
@Suite struct `A person who waits for a refresh elsewhere` {
    /// What an engine did, whose store does all that it is asked at once, and whose provider never answers.
    private final class Run {
        private var engine: IdentityEngine
        private var now = ContinuousClock.now
        private var stored: StoredSession
        private(set) var hasAsked = false
        private(set) var hasLetGo = false
        private(set) var lookCount = 0

        init() {
            var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
            client.issuer = "https://sso.example"
            let wall = WallTime(secondsSinceEpoch: 1_700_000_000)
            engine = IdentityEngine(client, at: Moment(now: now, wall: wall, jitter: 0))
            stored = StoredSession(identity: "default", generation: 1, binding: client.binding)
            stored.refreshToken = Secret("one")
            play(.storeChanged(isWritable: false))
            play(.refreshRequested(0, TokenAdditions(), by: 1, until: now + .seconds(60)))
        }

        func pass(_ duration: Duration) {
            now += duration
            play(.timePassed)
        }

        private func play(_ event: EngineEvent) {
            var events = [event]
            let moment = Moment(now: now, wall: WallTime(secondsSinceEpoch: 1_700_000_000), jitter: 0)
            while !events.isEmpty {
                for action in engine.handle(events.removeFirst(), at: moment) {
                    switch action {
                    case .lock(let ticket, _): events.append(.leased(ticket))
                    case .read(let ticket):
                        events.append(.recordRead(ticket, .success(StoreRecord(session: stored))))
                    case .spend(let ticket, _): events.append(.spent(ticket, .success(false)))
                    case .lookForClaim(let ticket):
                        lookCount += 1
                        events.append(.claimed(ticket, true))
                    case .ask(let ticket, _, _, _, _):
                        hasAsked = true
                        events.append(.requestBegan(ticket))
                    case .release: hasLetGo = hasAsked
                    default: break
                    }
                }
            }
        }
    }

    @Test func `waits for its answer until the provider is silent, and then goes first`() {
        let run = Run()
        run.pass(.milliseconds(1))
        #expect(run.hasAsked)
        for _ in 0..<9 { run.pass(.seconds(1)) }
        #expect(run.lookCount > 3 && !run.hasLetGo)
        for _ in 0..<3 { run.pass(.seconds(1)) }
        #expect(run.hasLetGo)
    }
}

/// A refresh token that somebody has sent before, while its successor may lie in a process that waits for the lock.
@Suite struct `A refresh token that may be spent` {
    /// A process that has the lease, has found the mark of another one, and asks the provider something harmless.
    private func doubting() throws -> (run: EngineRun, question: Ticket) {
        let run = EngineRun()
        run.isMarked = true
        return (run, try #require(run.play(.started).probed))
    }

    @Test func `is not sent by a holder whose lease is claimed, who reads again what is stored then`() throws
    {
        let (run, question) = try doubting()
        run.play(.probed(question, nil))
        run.pass(.seconds(1))
        run.isClaimed = true
        #expect(run.play(.timePassed).releases == [true], "the mark stays")
        run.stored.generation += 1
        run.stored.refreshToken = Secret("two")
        (run.isClaimed, run.isMarked) = (false, false)
        run.pass(.seconds(2))
        let actions = run.play(.timePassed)
        #expect(actions.marked == [2] && actions.asked != nil)
        #expect(run.engine.session.refreshToken?.matches(Secret("two")) == true)
    }

    @Test func `is not sent by a configuration that a reload has replaced, once nobody waits for it`() throws
    {
        let (run, question) = try doubting()
        run.play(.probed(question, nil))
        let actions = run.play(.targetLeaves(0))
        #expect(actions.releases == [true], "the mark stays")
        run.pass(.seconds(5))
        let later = run.play(.timePassed)
        #expect(later.probed == nil && later.asked == nil)
    }

    @Test func `is not sent where the lease is claimed at the last moment`() throws {
        let (run, question) = try doubting()
        run.play(.probed(question, nil))
        run.pass(.seconds(5))
        let second = try #require(run.play(.timePassed).probed)
        run.isClaimed = true
        let actions = run.play(.probed(second, nil))
        #expect(actions.asked == nil && actions.releases == [true])
        // Where nothing has come of it, the provider answers twice once more.
        (run.isClaimed, run.isMarked) = (false, true)
        run.pass(.seconds(2))
        let third = try #require(run.play(.timePassed).probed)
        #expect(run.play(.probed(third, nil)).asked == nil)
        run.pass(.seconds(5))
        let fourth = try #require(run.play(.timePassed).probed)
        #expect(run.play(.probed(fourth, nil)).asked != nil)
    }

    @Test func `is not sent where nobody could be heard at the last moment, or before`() throws {
        for isLast in [true, false] {
            let (run, question) = try doubting()
            run.play(.probed(question, nil))
            run.pass(.seconds(1))
            if !isLast { run.isClaimed = nil }
            let early = run.play(.timePassed)
            #expect(early.releases == (isLast ? [] : [true]))
            guard isLast else { continue }
            run.pass(.seconds(4))
            let second = try #require(run.play(.timePassed).probed)
            run.isClaimed = nil
            let actions = run.play(.probed(second, nil))
            #expect(actions.asked == nil && actions.releases == [true], "the mark stays")
        }
    }

    @Test func `is taken back where nobody can be heard any more while it waits to go out`() throws {
        let (run, question) = try doubting()
        run.begins = false
        run.play(.probed(question, nil))
        run.pass(.seconds(5))
        let second = try #require(run.play(.timePassed).probed)
        #expect(run.play(.probed(second, nil)).asked != nil)
        run.isClaimed = nil
        run.pass(.seconds(1))
        #expect(run.play(.timePassed).releases == [true], "the mark stays")
    }

    @Test func `is sent once more though nobody can be heard by who alone has sent it`() throws {
        let run = EngineRun()
        run.isClaimed = nil
        #expect(run.play(.started).asked != nil)
        run.pass(.seconds(11))
        let first = try #require(run.play(.timePassed).probed)
        run.play(.probed(first, nil))
        run.pass(.seconds(5))
        let second = try #require(run.play(.timePassed).probed)
        let actions = run.play(.probed(second, nil))
        #expect(actions.asked != nil && actions.releases.isEmpty && !run.engine.isDoubted)
    }

    @Test func `is not sent by one who stops between the provider's last answer and the look for a claim`()
        throws
    {
        let (run, question) = try doubting()
        run.play(.probed(question, nil))
        run.pass(.seconds(5))
        let second = try #require(run.play(.timePassed).probed)
        run.answersLooks = false
        let look = try #require(run.play(.probed(second, nil)).lookedForClaim)
        run.play(.stopping)
        let actions = run.play(.claimed(look, false))
        #expect(actions.asked == nil && run.engine.isQuiet)
    }

    @Test func `is not sent under a lease that was given away while the request waited to be sent`() throws {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        #expect(run.engine.wants(ticket))
        // The process stood still meanwhile, so that the provider seems to be silent.
        run.pass(.seconds(11))
        run.isClaimed = true
        #expect(run.play(.timePassed).releases == [true] && !run.engine.wants(ticket))
        let unsent = TokenRequestResult(
            result: .failure(TokenFailure(.transient, .cancelled, detail: "")), sentAt: run.now,
            wall: run.wall)
        run.play(.answered(ticket, TokenRequestReport(outcome: unsent, wasSent: false)))
        (run.isClaimed, run.isMarked) = (false, true)
        run.pass(.seconds(2))
        #expect(run.play(.timePassed).asked == nil)
        #expect(run.engine.isDoubted, "whoever had the lease may have sent it")
        run.pass(.seconds(1))
        let actions = run.play(.timePassed)
        #expect(actions.asked == nil && actions.probed != nil)
    }

    @Test(arguments: [false, true])
    func `is claimed by whoever has its successor, though it waits for the lease without a claim`(
        isWaiting: Bool
    ) throws {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        run.pass(.seconds(11))
        run.play(.timePassed)
        run.play(.roomWanted)
        run.locks = false
        if isWaiting {
            run.pass(.seconds(2))
            #expect(!run.play(.timePassed).isClaiming)
        }
        #expect(run.play(run.answer(ticket, refreshToken: "two")).isClaiming && run.engine.isClaiming)
        #expect(run.lock().saved.first?.matches(Secret("two")) == true && !run.engine.isClaiming)
    }

    @Test func `has its successor claim the lease at once where that was lost`() throws {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        (run.locks, run.refusesWrites, run.writeFailure) = (false, true, .leaseLost)
        #expect(run.play(run.answer(ticket, refreshToken: "two")).isClaiming)
        // A store that gives leases which are lost is not asked without end.
        #expect(!run.lock().isClaiming)
        run.refusesWrites = false
        run.pass(.seconds(1))
        let actions = run.play(.timePassed)
        #expect(actions.isClaiming && actions.saved.first?.matches(Secret("two")) == true)
    }

    @Test func `makes room in its process for its successor, though the store takes no claim`() throws {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        (run.locks, run.refusesWrites, run.writeFailure) = (false, true, .leaseLost)
        run.play(run.answer(ticket, refreshToken: "two"))
        run.refuseLock(.unavailable("no space"))
        #expect(run.engine.isClaiming)
    }

    @Test func `is not sent where another process was refused meanwhile`() {
        let run = EngineRun()
        run.locks = false
        run.play(.started)
        run.stored.generation += 1
        run.stored.refusal = .invalidGrant
        #expect(run.lock().asked == nil)
        run.pass(.seconds(60))
        #expect(run.play(.timePassed).asked == nil)
    }
}
