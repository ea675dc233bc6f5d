// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

struct `Renewal` {
    @Test(arguments: [
        (lifetime: Duration.seconds(300), margin: Duration?.none, expected: Duration.milliseconds(239_200)),
        (.seconds(3600), nil, .seconds(3539)),
        (.seconds(10), nil, .milliseconds(7200)),
        (.seconds(300), .seconds(100), .seconds(199)),
        (.seconds(100), .seconds(100), .milliseconds(49_500)),
        (.seconds(300), .zero, .seconds(299)),
        (.seconds(1), nil, .milliseconds(400)),
    ])
    func `is due one margin before the last second of a token`(
        lifetime: Duration, margin: Duration?, expected: Duration
    ) {
        let harness = EngineHarness { $0.refreshMargin = margin }
        harness.renew(lifetime: lifetime)
        #expect(harness.nextAttempt == expected)
    }

    @Test(arguments: [(2.0, 1.0), (300, 299), (1, 0.5)])
    func `comes before a provider that rounds down calls the token expired`(lifetime: Double, last: Double) {
        let harness = EngineHarness()
        harness.renew(to: "one", lifetime: .seconds(lifetime))
        _ = harness.state.nextAction(at: harness.now + .seconds(last))
        #expect(harness.state.published(at: harness.now + .seconds(last - 0.01)) != nil)
        #expect(harness.state.published(at: harness.now + .seconds(last)) == nil)
    }

    @Test func `of a session that is to end is made for whoever waits, and for nobody else`() {
        let harness = EngineHarness()
        harness.renew(to: "one", lifetime: .seconds(300))
        harness.state.leave()
        #expect(harness.nextAttempt == nil)
        harness.pass(.seconds(290))
        #expect(!harness.begins() && harness.answer == "one")
        harness.pass(.seconds(20))
        #expect(!harness.begins())
        harness.state.take(
            .tokenNeeded(0, by: 100, until: harness.now + .seconds(120), isRenewed: false), at: harness.now)
        #expect(harness.begins())
        harness.crash(.transient)
        harness.pass(.seconds(60))
        #expect(harness.begins(), "the first one waits still")
        harness.land("two")
        #expect(harness.answer == "two" && harness.nextAttempt == nil)
        #expect(harness.reject() == "wait")
        #expect(harness.begins(), "the request that was refused waits")
    }

    @Test func `is brought forward by a random tenth of the margin`() {
        let harness = EngineHarness()
        harness.jitter = 0.5
        harness.renew(lifetime: .seconds(3600))
        #expect(harness.nextAttempt == .seconds(3536))
    }

    @Test func `goes on while the old token is used`() {
        let harness = EngineHarness()
        harness.renew(to: "one")
        harness.pass(.seconds(239))
        #expect(!harness.begins())
        harness.pass(.seconds(1))
        #expect(harness.begins())
        #expect(!harness.begins(), "one at a time")
        #expect(harness.answer == "one")
        #expect(harness.word == .authorized)
        harness.land("two")
        #expect(harness.answer == "two")
    }

    @Test func `happens at once when there is no token`() {
        let harness = EngineHarness()
        #expect(harness.word == .empty)
        #expect(harness.begins())
        #expect(harness.word == .refreshing)
        #expect(harness.answer == "wait")
        harness.land("one")
        #expect(harness.answer == "one")
    }

    @Test func `needs a person where only a person can begin a session`() {
        let harness = EngineHarness(grantType: .refreshToken)
        #expect(!harness.begins())
        #expect(harness.word == .loginRequired)
        #expect(harness.answer == "login_required")
        #expect(throws: TokenError.loginRequired) { try harness.state.refreshRequested(at: harness.now) }
    }

    @Test func `uses the refresh token if there is one`() throws {
        let harness = EngineHarness(refreshToken: "rt")
        _ = harness.begins()
        guard case .refresh(let token) = try #require(harness.state.asked?.grant) else {
            Issue.record("no refresh")
            return
        }
        #expect(token.matches(Array("rt".utf8)))
    }

    @Test func `counts the lifetime from when the request was sent`() {
        let harness = EngineHarness()
        _ = harness.begins()
        let grant = TokenResponse(accessToken: Secret("at"), lifetime: .seconds(10))
        _ = harness.state.received(grant, sentAt: harness.now - .seconds(3), wall: harness.wall, jitter: 0)
        harness.state.attemptEnded(at: harness.now, isSaved: true)
        #expect(harness.state.access?.snapshot.expiry == harness.now + .seconds(6))
    }

    @Test func `carries the last known lifetime forward, else the configured one`() {
        let harness = EngineHarness { $0.defaultLifetime = .seconds(77) }
        harness.renew(lifetime: nil)
        #expect(harness.state.access?.lifetime == .seconds(77))
        harness.pass(.seconds(77))
        harness.renew(lifetime: .seconds(20))
        harness.pass(.seconds(20))
        harness.renew(lifetime: nil)
        #expect(harness.state.access?.lifetime == .seconds(20))
    }

    @Test func `never lets an expired token out`() {
        let harness = EngineHarness()
        harness.renew(to: "one")
        harness.pass(.seconds(250))
        harness.fail(.transient)
        #expect(harness.answer == "one")
        harness.pass(.seconds(50))
        #expect(harness.token == nil)
        #expect(harness.answer != "one")
        #expect(harness.word == .unavailable)
    }

    @Test func `keeps the newest refresh token when the answer has none`() {
        let harness = EngineHarness(refreshToken: "one")
        harness.renew(refreshToken: nil)
        #expect(harness.state.session.refreshToken?.matches(Array("one".utf8)) == true)
        harness.pass(.seconds(240))
        harness.renew(refreshToken: "two")
        #expect(harness.state.session.refreshToken?.matches(Array("two".utf8)) == true)
    }

    @Test func `does not use a token before it is stored`() {
        let harness = EngineHarness()
        _ = harness.begins()
        let grant = TokenResponse(accessToken: Secret("new"), lifetime: .seconds(10))
        let stored = harness.state.received(grant, sentAt: harness.now, wall: harness.wall, jitter: 0)
        #expect(stored.accessToken?.token.matches(Array("new".utf8)) == true)
        #expect(harness.token == nil && harness.answer == "wait")
        harness.state.attemptEnded(at: harness.now, isSaved: true)
        #expect(harness.token == "new" && !harness.state.isUnsaved)
    }

    @Test func `uses a token from memory when it cannot be stored`() {
        let harness = EngineHarness()
        _ = harness.begins()
        let grant = TokenResponse(accessToken: Secret("new"), lifetime: .seconds(10))
        _ = harness.state.received(grant, sentAt: harness.now, wall: harness.wall, jitter: 0)
        harness.state.attemptEnded(at: harness.now, isSaved: false)
        #expect(harness.token == "new" && harness.state.isUnsaved)
    }

    @Test func `survives a clock that jumps`() {
        let harness = EngineHarness()
        harness.renew(to: "one")
        harness.pass(.seconds(86_400 * 365))
        #expect(harness.token == nil)
        #expect(harness.begins())
        harness.land("two")
        #expect(harness.token == "two")
        harness.wall = WallTime(secondsSinceEpoch: 0)
        #expect(harness.token == "two" && harness.nextAttempt == .milliseconds(239_200))
    }

    @Test(arguments: ["one", "two"])
    func `is made with care where the provider has ever replaced a refresh token, or may do so`(
        first: String
    ) throws {
        let run = EngineRun()
        run.play(run.answer(try #require(run.play(.started).asked), refreshToken: first))
        for name in ["two", "two", "three"] {
            let actions = run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now))
            guard case .asking(let asking) = run.engine.phase else {
                Issue.record("nothing is asked")
                return
            }
            #expect(asking.rule != nil)
            run.play(run.answer(try #require(actions.asked), refreshToken: name))
        }
    }

    @Test func `that outlasts the token has who waits for it told at the deadline, and no later`() throws {
        let run = EngineRun()
        run.play(run.answer(try #require(run.play(.started).asked), refreshToken: "two"))
        run.pass(.seconds(298))
        // Somebody else has the lease for as long as it takes.
        run.locks = false
        run.play(.renewalNeeded(0))
        let deadline = run.now + .seconds(10)
        #expect(run.play(.tokenNeeded(0, by: 7, until: deadline, isRenewed: false)).failed.isEmpty)
        run.pass(.seconds(2))
        let actions = run.play(.timePassed)
        #expect(actions.failed.isEmpty && actions.alarms == [deadline])
        run.pass(.seconds(8))
        #expect(run.play(.timePassed).failed == [7])
    }
}

extension [EngineAction] {
    fileprivate var alarms: [Instant?] {
        compactMap { action in if case .ring(let moment) = action { .some(moment) } else { nil } }
    }
}
