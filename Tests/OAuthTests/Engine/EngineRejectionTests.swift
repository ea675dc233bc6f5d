// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

struct `A refused token` {
    private func authorized() -> EngineHarness {
        let harness = EngineHarness()
        harness.renew(to: "one", lifetime: .seconds(100_000))
        return harness
    }

    @Test func `forces a refresh and a replay with what it brings`() {
        let harness = authorized()
        let old = harness.generation
        #expect(harness.reject() == "wait")
        #expect(harness.word == .authorizationError)
        #expect(harness.begins())
        harness.land("two")
        #expect(harness.word == .authorized)
        let rejection = TokenRejection(generation: old, route: "/")
        #expect(harness.describe(harness.state.verdict(on: rejection, at: harness.now)) == "replay two")
    }

    @Test func `does no harm when it is an older one`() {
        let harness = authorized()
        let old = harness.generation
        _ = harness.reject()
        harness.renew(to: "two", lifetime: .seconds(100_000))
        #expect(harness.reject(old) == "replay two")
        #expect(harness.reject(old, canReplay: false) == "pass")
        #expect(harness.word == .authorized)
        #expect(!harness.begins() && harness.token == "two")
    }

    @Test func `is sent again when the forced refresh fails`() {
        let harness = authorized()
        #expect(harness.reject() == "wait")
        #expect(harness.begins())
        harness.crash(.transient)
        #expect(harness.token == "one")
        #expect(harness.word == .authorizationError)
        #expect(harness.reject() == "pass")
    }

    @Test func `is not kept from others while its successor is fetched`() {
        let harness = authorized()
        _ = harness.reject()
        #expect(harness.begins())
        #expect(harness.token == "one" && harness.answer == "one")
    }

    @Test func `forces one refresh in ten seconds, however often it is refused`() {
        let harness = authorized()
        #expect(harness.reject() == "wait")
        #expect(harness.begins())
        harness.land("two", lifetime: .seconds(100_000))
        for _ in 0..<9 {
            #expect(harness.reject() == "pass")
            #expect(harness.word == .authorizationError)
            #expect(!harness.begins())
            #expect(harness.token == "two")
            harness.pass(.seconds(1))
        }
    }

    @Test func `that a route refuses at once doubles the hold-off, up to five minutes`() {
        let harness = authorized()
        _ = harness.reject()
        harness.renew(to: "forced", lifetime: .seconds(100_000))
        for expected in [10, 20, 40, 80, 160, 300, 300] {
            _ = harness.reject()
            #expect(harness.nextAttempt == .seconds(expected), "healing without traffic")
            harness.pass(.seconds(expected))
            #expect(harness.begins())
            harness.land("forced again", lifetime: .seconds(100_000))
        }
    }

    @Test func `forces no second refresh within ten seconds, whatever the route accepts meanwhile`() {
        let harness = authorized()
        var forced = 0
        for _ in 0..<600 {
            if harness.reject() == "wait" {
                #expect(harness.begins())
                harness.land("forced", lifetime: .seconds(100_000))
                _ = harness.reject(canReplay: false, isReplayed: true)
                forced += 1
            }
            harness.state.tokenAccepted(generation: harness.generation, route: "/")
            #expect(harness.word == .authorized && harness.token != nil)
            #expect(!harness.state.isWatching && !harness.begins())
            harness.pass(.milliseconds(100))
        }
        #expect(forced == 3, "at 0, 10 and 30 seconds")
    }

    @Test func `that a replayed request accepts starts the doubling anew, not the ten seconds`() {
        let harness = authorized()
        for _ in 0..<3 {
            #expect(harness.reject() == "wait")
            #expect(harness.begins())
            harness.land("forced", lifetime: .seconds(100_000))
            harness.state.tokenAccepted(generation: harness.generation, route: "/", isReplayed: true)
            #expect(!harness.state.isWatching)
            #expect(harness.reject() == "pass")
            harness.state.tokenAccepted(generation: harness.generation, route: "/")
            harness.pass(.seconds(9))
            #expect(harness.reject() == "pass" && harness.nextAttempt == .seconds(1))
            harness.state.tokenAccepted(generation: harness.generation, route: "/")
            harness.pass(.seconds(1))
        }
    }

    @Test func `that is accepted after the waiting had doubled shortens it, down to ten seconds`() {
        let harness = authorized()
        for _ in 0..<2 {
            _ = harness.reject()
            harness.renew(to: "forced", lifetime: .seconds(100_000))
            _ = harness.reject(canReplay: false, isReplayed: true)
            harness.state.tokenAccepted(generation: harness.generation, route: "/")
            harness.pass(.seconds(10))
        }
        harness.pass(.seconds(10))
        #expect(harness.reject() == "wait")
        harness.renew(to: "good", lifetime: .seconds(100_000))
        harness.state.tokenAccepted(generation: harness.generation, route: "/", isReplayed: true)
        harness.pass(.seconds(9))
        #expect(harness.reject() == "pass" && harness.nextAttempt == .seconds(1))
    }

    @Test func `that another route accepts is no error, but the hold-off stays`() {
        let harness = authorized()
        _ = harness.reject(route: "/a")
        harness.renew(to: "two", lifetime: .seconds(100_000))
        #expect(harness.reject(route: "/a") == "pass")
        harness.state.tokenAccepted(generation: harness.generation, route: "/b")
        #expect(harness.word == .authorized)
        #expect(harness.reject(route: "/a") == "pass")
        #expect(harness.reject(route: "/b") == "wait", "hold-offs are kept for each route")
    }

    @Test func `of a request that cannot be replayed makes the next one refresh first`() {
        let harness = authorized()
        #expect(harness.reject(canReplay: false) == "pass")
        #expect(harness.token == nil, "the next request must ask")
        #expect(!harness.begins(), "but nobody refreshes before it comes")
        #expect(harness.need(), "this one waits")
        #expect(harness.begins())
        #expect(!harness.need() && harness.answer == "one", "the others need not")
        harness.land("two")
        #expect(harness.answer == "two")
    }

    @Test func `heals when the hold-off ends, traffic or not`() {
        let harness = authorized()
        _ = harness.reject(canReplay: false)
        #expect(harness.nextAttempt == .seconds(10))
        harness.pass(.seconds(10))
        #expect(harness.begins())
        harness.land("two")
        #expect(harness.word == .authorized && harness.token == "two")
    }

    @Test func `with another status forces a refresh but leaves no mark`() {
        let harness = authorized()
        #expect(harness.reject(isUnauthorized: false) == "wait")
        #expect(harness.word == .authorized)
        #expect(harness.begins())
        harness.land("two", lifetime: .seconds(100_000))
        #expect(harness.reject(isUnauthorized: false) == "pass")
    }

    @Test func `with another status than 401 clears the mark of an earlier 401`() {
        let harness = authorized()
        _ = harness.reject(canReplay: false)
        #expect(harness.word == .authorizationError)
        _ = harness.reject(route: "/b", isUnauthorized: false, canReplay: false)
        #expect(harness.word == .authorized)
    }

    @Test func `waits for a refresh that is in flight anyway`() {
        let harness = authorized()
        harness.pass(.seconds(99_940))
        #expect(harness.begins())
        #expect(harness.reject() == "wait")
        harness.land("two", lifetime: .seconds(100_000))
        #expect(!harness.begins())
    }

    @Test func `waits for a renewal that is in flight anyway, in a hold-off too`() {
        let harness = authorized()
        _ = harness.reject()
        harness.renew(to: "two", lifetime: .seconds(5))
        harness.pass(.milliseconds(3200))
        #expect(harness.begins())
        #expect(harness.reject(canReplay: false) == "pass")
        #expect(harness.reject() == "wait")
        harness.land("three", lifetime: .seconds(5))
        #expect(harness.token == "three" && !harness.begins())
        #expect(harness.reject() == "pass", "nothing is in flight")
        #expect(!harness.begins())
    }

    @Test func `forces nothing while the provider wants to be left alone`() {
        let harness = authorized()
        harness.pass(.seconds(99_940))
        harness.fail(.transient, retryAfter: .seconds(50))
        #expect(harness.reject() == "pass")
        #expect(harness.reject(canReplay: false) == "pass")
        #expect(harness.token == "one" && !harness.begins())
    }

    @Test func `forces nothing where a person must log in`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        harness.renew(to: "one")
        harness.pass(.seconds(240))
        harness.fail(.final)
        #expect(harness.reject() == "pass")
        #expect(harness.token == "one" && harness.word == .loginRequired)
    }

    @Test func `that a person invalidated is never used again`() {
        let harness = authorized()
        harness.state.tokenInvalidated(at: harness.now)
        #expect(harness.token == nil)
        #expect(harness.state.session.accessToken == nil)
        #expect(harness.begins())
        harness.crash(.transient)
        #expect(harness.token == nil)
        harness.find(generation: 1, accessToken: "one")
        #expect(harness.token == nil)
    }

    @Test func `is news once for each route and token`() {
        let harness = authorized()
        func isNews(_ route: String) -> Bool {
            let rejection = TokenRejection(generation: harness.generation, route: route)
            defer { _ = harness.state.tokenRejected(rejection, at: harness.now) }
            return harness.state.isNews(rejection)
        }
        #expect(isNews("/a") && isNews("/b") && !isNews("/a"))
        harness.state.tokenAccepted(generation: harness.generation, route: "/a")
        #expect(!isNews("/a"))
        harness.pass(.seconds(10))
        harness.renew(to: "two")
        #expect(isNews("/a") && !isNews("/a"))
    }
}
