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
                    case .ask: hasAsked = true
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
