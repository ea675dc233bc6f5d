// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A store that was away, or has lost something: whoever has a newer session writes it before a refresh token is sent.
struct `After the store has lost something` {
    private final class Run {
        private var engine: IdentityEngine
        private var now = ContinuousClock.now
        private let wall = WallTime(secondsSinceEpoch: 1_700_000_000)
        var stored: StoredSession
        var takesWrites = false

        init() {
            var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
            client.issuer = "https://sso.example"
            engine = IdentityEngine(client, at: Moment(now: now, wall: wall, jitter: 0))
            stored = StoredSession(identity: "default", generation: 1, binding: client.binding)
            stored.refreshToken = Secret("one")
        }

        func pass(_ duration: Duration) { now += duration }

        func take(_ event: EngineEvent) -> [EngineAction] {
            engine.handle(event, at: Moment(now: now, wall: wall, jitter: 0))
        }

        /// Has the engine take in an event, and the store do everything it wants, and write if it can.
        ///
        /// - Returns: what else it wants.
        @discardableResult
        func play(_ event: EngineEvent, settling: Duration? = nil) -> [EngineAction] {
            var (events, rest) = ([event], [EngineAction]())
            while !events.isEmpty {
                for action in take(events.removeFirst()) {
                    switch action {
                    case .lock(let ticket, _):
                        events.append(.leased(ticket))
                        rest.append(action)
                    case .read(let ticket):
                        let record = StoreRecord(session: stored, settledAt: settling.map { now + $0 })
                        events.append(.recordRead(ticket, .success(record)))
                    case .spend(let ticket, _): events.append(.spent(ticket, .success(false)))
                    case .ask(let ticket, _, _, _, _):
                        events.append(.requestBegan(ticket))
                        rest.append(action)
                    case .save(let ticket, let session, _, _) where takesWrites:
                        stored = session
                        events.append(.saved(ticket))
                    case .save(let ticket, _, _, _):
                        events.append(.notSaved(ticket, .unavailable("read-only"), hasMoved: false))
                        rest.append(action)
                    default: rest.append(action)
                    }
                }
            }
            return rest
        }

        /// The ticket of the token request in `actions`.
        func asked(_ actions: [EngineAction]) -> Ticket? {
            actions.compactMap { if case .ask(let ticket, _, _, _, _) = $0 { ticket } else { nil } }.first
        }

        func answer(_ ticket: Ticket, refreshToken: String) -> EngineEvent {
            let grant = TokenResponse(
                accessToken: Secret("at \(refreshToken)"), lifetime: .seconds(300),
                refreshToken: Secret(refreshToken))
            var outcome = TokenRequestResult(result: .success(grant), sentAt: now, wall: wall)
            outcome.refreshToken = Secret(refreshToken)
            return .answered(ticket, TokenRequestReport(outcome: outcome))
        }
    }

    @Test func `a refresh token that others have too is not sent, though something else is unwritten`() {
        let run = Run()
        run.play(.storeChanged(isWritable: false))
        // Unwritten is that its access token must not be used; everybody has its refresh token.
        run.play(.tokenInvalidated(0, by: 1, until: .now + .seconds(60)), settling: .seconds(15))
        #expect(run.asked(run.play(.started, settling: .seconds(15))) == nil)
        run.pass(.seconds(16))
        #expect(run.asked(run.play(.timePassed)) != nil)
    }

    @Test func `a request that has waited for others is told of the store, and not of the provider`() {
        let run = Run()
        run.play(.storeChanged(isWritable: false))
        run.play(.started, settling: .seconds(15))
        run.play(
            .tokenNeeded(0, by: 1, until: .now + .seconds(10), isRenewed: false), settling: .seconds(15))
        run.pass(.seconds(11))
        let answers = run.play(.timePassed, settling: .seconds(4)).compactMap { action in
            if case .wake(1, .failure(let error)) = action { error } else { nil }
        }
        #expect(answers == [.storeUnavailable(retryAfter: .seconds(1))])
    }

    @Test
    func `a refresh token that others have had is not sent, though the store has gone back to an older one`()
    {
        let run = Run()
        let older = run.stored
        run.stored.generation = 2
        run.stored.refreshToken = Secret("two")
        run.play(.storeChanged(isWritable: false))
        run.stored = older
        run.play(.storeChanged(isWritable: false), settling: .seconds(15))
        run.play(.tokenInvalidated(0, by: 1, until: .now + .seconds(60)), settling: .seconds(15))
        #expect(run.asked(run.play(.started, settling: .seconds(15))) == nil)
        run.pass(.seconds(16))
        // Whoever has a newer one could not write it meanwhile, because the lease was ours.
        let actions = run.play(.timePassed)
        #expect(run.asked(actions) == nil && actions.releases.count == 1)
        run.pass(.seconds(5))
        #expect(run.asked(run.play(.timePassed)) == nil)
        run.pass(.seconds(1))
        #expect(run.asked(run.play(.timePassed)) != nil)
    }

    @Test func `a login that could be stored is followed by no wait for others`() {
        let run = Run()
        run.stored.began = WallTime(secondsSinceEpoch: 1_700_000_000)
        let older = run.stored
        run.stored.generation = 2
        run.stored.refreshToken = Secret("two")
        run.play(.storeChanged(isWritable: false))
        run.stored = older
        run.play(.storeChanged(isWritable: false), settling: .seconds(15))
        run.play(.tokenInvalidated(0, by: 1, until: .now + .seconds(60)), settling: .seconds(15))
        #expect(run.asked(run.play(.started, settling: .seconds(15))) == nil)
        run.pass(.seconds(14))
        run.takesWrites = true
        let grant = TokenResponse(
            accessToken: Secret("theirs"), lifetime: .seconds(300), refreshToken: Secret("three"))
        let wall = WallTime(secondsSinceEpoch: 1_700_000_014)
        run.play(.commanded(1, .login(grant, 0, sentAt: .now, wall: wall)), settling: .seconds(1))
        #expect(run.stored.refreshToken?.matches(Secret("three")) == true)
        run.pass(.seconds(2))
        let request = EngineEvent.refreshRequested(
            0, TokenAdditions(), by: 2, until: .now + .seconds(60))
        #expect(run.asked(run.play(request)) != nil)
    }

    @Test func `the answer to a request that was left for others is taken in at once`() throws {
        let run = Run()
        run.play(.storeChanged(isWritable: false))
        let ticket = try #require(run.asked(run.play(.started)))
        run.pass(.seconds(11))
        run.play(.timePassed)
        // Somebody has taken the lock, and has put back what was lost.
        run.stored.generation = 2
        run.play(.storeChanged(isWritable: false), settling: .seconds(15))
        run.pass(.seconds(2))
        let actions = run.play(run.answer(ticket, refreshToken: "two"), settling: .seconds(13))
        let saved = actions.compactMap { action in
            if case .save(_, let session, _, _) = action { session.refreshToken } else { nil }
        }
        #expect(saved.first?.matches(Secret("two")) == true)
        #expect(run.asked(actions) == nil, "it is asked for once")
    }

    @Test(arguments: [true, false])
    func `or has gone back to an older copy, nothing is sent for a moment`(isWritten: Bool) {
        let run = EngineRun()
        (run.stored.generation, run.stored.refreshToken) = (3, Secret("two"))
        run.play(.storeChanged(isWritable: false))
        (run.stored.generation, run.stored.refreshToken) = (2, Secret("one"))
        let actions = run.play(.started)
        #expect(actions.asked == nil && actions.saved.first?.matches(Secret("two")) == true)
        run.pass(.seconds(1))
        if isWritten { (run.stored.generation, run.stored.refreshToken) = (5, Secret("three")) }
        #expect(run.play(.storeChanged(isWritable: false)).asked == nil)
        run.pass(.seconds(1))
        #expect(run.play(.timePassed).marked == [isWritten ? 5 : 3])
    }
}
