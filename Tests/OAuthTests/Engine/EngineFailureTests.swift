// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A store that does not answer, and each try for it takes a while.
@Suite struct `A store that is frozen` {
    @Test func `leaves one state, however often it is tried`() {
        let run = EngineRun()
        let frozen = StoreError.unavailable("frozen")
        (run.locks, run.readFailure) = (false, frozen)
        run.play(.storeChanged(isWritable: false))
        run.play(.started)
        var states: [SessionState] = []
        for _ in 0..<20 {
            run.pass(.seconds(2))
            run.play(.timePassed)
            states.append(run.engine.state(of: 0))
            run.refuseLock(frozen)
            states.append(run.engine.state(of: 0))
        }
        #expect(Set(states) == [.unavailable], "\(states)")
    }

    @Test func `is a failed try from the first refusal of its lock, though the attempt goes on`() {
        let run = EngineRun()
        run.locks = false
        run.play(.started)
        #expect(run.engine.state(of: 0) == .refreshing)
        run.refuseLock(.busy(by: "process 7"))
        #expect(run.engine.state(of: 0) == .unavailable)
        #expect(run.lock().asked != nil && run.engine.state(of: 0) == .refreshing)
    }
}

/// The request of an identity whose place another configuration's takes, while the provider does not answer it.
@Suite struct `A request of before a reload` {
    @Test func `is hung up where it replaces nothing and nobody waits, and the lease is given back`() throws {
        let run = EngineRun(.clientCredentials)
        let ticket = try #require(run.play(.started).asked)
        run.play(.tokenNeeded(0, by: 1, until: run.now + .seconds(10), isRenewed: false))
        #expect(run.play(.targetLeaves(0)).releases.isEmpty, "somebody waits")
        run.pass(.seconds(10))
        let actions = run.play(.timePassed)
        #expect(actions.hungUp == [ticket] && actions.releases.count == 1 && actions.asked == nil)
    }

    @Test func `is left with its mark once the provider is silent, and its answer is kept`() throws {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        let early = run.play(.targetLeaves(0))
        #expect(early.hungUp.isEmpty && early.releases.isEmpty, "it may be answered any moment")
        run.pass(.seconds(11))
        let actions = run.play(.timePassed)
        #expect(actions.releases == [true] && !actions.hungUp.contains(ticket))
        run.pass(.seconds(30))
        let later = run.play(.timePassed)
        #expect(later.asked == nil && later.probed == nil && run.engine.lease == nil)
        #expect(!run.play(.stopping).isQuiet)
        #expect(run.play(run.answer(ticket, refreshToken: "two")).isQuiet)
        #expect(run.play(.commanded(1, .write)).saved.first?.matches(Secret("two")) == true)
    }
}

struct `A failed token request` {
    @Test(arguments: [
        (TokenFailure.Kind.transient, [200, 400, 800, 1600, 3200, 6400, 12_800, 25_000, 25_000]),
        (.misconfigured, [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000, 250_000, 250_000]),
    ])
    func `is repeated after a doubling back-off`(kind: TokenFailure.Kind, milliseconds: [Int]) {
        let harness = EngineHarness()
        for expected in milliseconds {
            harness.fail(kind)
            #expect(harness.nextAttempt == .milliseconds(expected))
            harness.pass(.milliseconds(expected))
        }
    }

    @Test(arguments: [(TokenFailure.Kind.transient, Duration.seconds(30)), (.misconfigured, .seconds(300))])
    func `never backs off beyond the ceiling`(kind: TokenFailure.Kind, ceiling: Duration) throws {
        let harness = EngineHarness()
        harness.jitter = 0.999
        for _ in 0..<40 {
            harness.fail(kind)
            let wait = try #require(harness.nextAttempt)
            #expect(wait <= ceiling)
            harness.pass(wait)
        }
    }

    @Test func `waits as long as the provider asks`() {
        let harness = EngineHarness()
        harness.fail(.transient, retryAfter: .seconds(120))
        #expect(harness.nextAttempt == .seconds(120))
        #expect(harness.answer == "unavailable")
    }

    @Test func `backs off anew after a success`() {
        let harness = EngineHarness()
        harness.fail(.transient)
        harness.pass(.seconds(1))
        harness.fail(.transient)
        harness.pass(.seconds(1))
        harness.renew(lifetime: .seconds(10))
        harness.pass(.seconds(10))
        harness.fail(.transient)
        #expect(harness.nextAttempt == .milliseconds(200))
    }

    @Test func `leaves a token that has not expired in use`() {
        for kind in TokenFailure.Kind.allCases {
            let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
            harness.renew(to: "one")
            harness.pass(.seconds(250))
            harness.fail(kind)
            #expect(harness.token == "one" && harness.answer == "one")
            harness.pass(.seconds(50))
            #expect(harness.token == nil)
        }
    }

    @Test func `keeps requests waiting only while the next try is near`() {
        let harness = EngineHarness()
        harness.fail(.transient)
        #expect(harness.answer == "wait")
        for _ in 0..<4 {
            harness.pass(harness.nextAttempt ?? .zero)
            harness.fail(.transient)
        }
        #expect(harness.answer == "unavailable")
        #expect(harness.word == .unavailable)
    }

    @Test func `that is final ends all asking`() throws {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        harness.renew(to: "one")
        harness.pass(.seconds(250))
        harness.fail(.final)
        #expect(harness.word == .loginRequired)
        #expect(harness.nextAttempt == nil)
        harness.pass(.seconds(86_400))
        #expect(!harness.begins())
        #expect(harness.answer == "login_required")
        #expect(harness.state.session.refreshToken != nil, "the provider may enable the user again")

        try harness.state.refreshRequested(at: harness.now)
        #expect(harness.begins())
        harness.land("two")
        #expect(harness.word == .authorized && harness.state.session.refusal == nil)
    }

    @Test func `that was final is asked once more for each time a person asks`() throws {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        harness.fail(.final)
        for kind in [TokenFailure.Kind.final, .transient, .final] {
            try harness.state.refreshRequested(at: harness.now)
            #expect(harness.begins())
            harness.crash(kind)
            harness.pass(.seconds(3600))
            #expect(!harness.begins())
            #expect(harness.word == .loginRequired)
        }
    }

    @Test func `that is doubtful is final after the third, but for a look every five minutes`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        for expected in [Duration.milliseconds(200), .milliseconds(400)] {
            harness.fail(.doubtful)
            #expect(harness.word == .unavailable)
            #expect(harness.nextAttempt == expected)
            harness.pass(expected)
        }
        harness.fail(.doubtful)
        #expect(harness.word == .loginRequired)
        #expect(harness.answer == "login_required")
        #expect(harness.state.session.refusal == nil, "asked again after a restart")
        for _ in 0..<3 {
            #expect(harness.nextAttempt == .seconds(300))
            harness.pass(.seconds(300))
            harness.fail(.doubtful)
        }
        harness.pass(.seconds(300))
        harness.renew(to: "one")
        #expect(harness.word == .authorized)
    }

    @Test func `of a refresh is no more than a reason to make a configured grant again`() {
        let dead = TokenFailure(.final, .refused(.invalidGrant), detail: "")
        let harness = EngineHarness(refreshToken: "rt")
        _ = harness.begins()
        harness.fail(dead)
        guard case .original? = harness.state.asked?.grant else {
            Issue.record("no grant")
            return
        }
        #expect(harness.word == .refreshing)
        harness.fail(dead)
        #expect(harness.state.asked == nil && harness.word == .loginRequired)

        let person = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        _ = person.begins()
        person.fail(dead)
        #expect(person.state.asked == nil && person.state.session.refreshToken != nil)
    }

    @Test func `of a refresh makes a configured grant again, though a refresh token came with it`() {
        for kind in [TokenFailure.Kind.final, .doubtful] {
            let harness = EngineHarness(refreshToken: "rt")
            _ = harness.begins()
            _ = harness.state.failed(
                TokenFailure(kind, .refused(.invalidGrant), detail: ""), refreshToken: Secret("new"),
                at: harness.now, wall: harness.wall, jitter: 0)
            guard case .original? = harness.state.asked?.grant else {
                Issue.record("no grant")
                continue
            }
            harness.land("two")
            #expect(harness.word == .authorized)
        }
    }

    @Test func `of a misconfigured client is repeated once its credentials change`() {
        let harness = EngineHarness()
        for _ in 0..<6 {
            harness.fail(.misconfigured)
            harness.pass(harness.nextAttempt ?? .zero)
        }
        harness.fail(.misconfigured)
        #expect(harness.word == .misconfigured && harness.answer == "misconfigured")
        #expect(!harness.begins())
        harness.state.credentialsChanged(at: harness.now)
        #expect(harness.begins())
        harness.land()
        #expect(harness.word == .authorized)
    }

    @Test func `stores a refresh token that came with it`() throws {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "old")
        _ = harness.begins()
        let failure = TokenFailure(.transient, .noAccessToken, detail: "")
        let change = harness.state.failed(
            failure, refreshToken: Secret("new"), at: harness.now, wall: harness.wall, jitter: 0)
        let stored = try #require(change)
        #expect(stored.refreshToken?.matches(Array("new".utf8)) == true)
        #expect(stored.generation == 2)
        harness.state.attemptEnded(at: harness.now, isSaved: true)
        #expect(harness.state.session.refreshToken?.matches(Array("new".utf8)) == true)
    }

    @Test func `is forgotten when a person asks for a refresh`() throws {
        let harness = EngineHarness()
        harness.fail(.transient, retryAfter: .seconds(300))
        #expect(!harness.begins())
        try harness.state.refreshRequested(at: harness.now)
        #expect(harness.begins())
    }

    @Test func `of the store that comes again is told at once, and not after the next try`() {
        let run = EngineRun()
        run.locks = false
        run.play(.started)
        func need(_ waiter: WaiterID) -> Bool {
            let end = run.now + .seconds(10)
            return run.play(.tokenNeeded(0, by: waiter, until: end, isRenewed: false)).failed == [waiter]
        }
        run.refuseLock(.refused("the directory is not private"))
        #expect(!need(1), "the next try may work")
        run.pass(.seconds(1))
        run.play(.timePassed)
        run.refuseLock(.refused("the directory is not private"))
        #expect(need(2))
        run.pass(.seconds(1))
        run.play(.timePassed)
        #expect(need(3), "it is only the store that is tried again")
        #expect(run.lock().asked != nil && !need(4))
    }
}
