// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

struct `A session in the store` {
    @Test func `is used after a restart, without a request`() {
        let harness = EngineHarness()
        harness.find(generation: 5, accessToken: "stored", lifetime: .seconds(300))
        #expect(harness.token == "stored" && harness.word == .authorized)
        #expect(harness.nextAttempt == .milliseconds(239_200))
    }

    @Test func `that expired meanwhile is only good for its refresh token`() {
        let harness = EngineHarness(grantType: .refreshToken)
        harness.find(generation: 5, accessToken: "stored", lifetime: .seconds(-1), refreshToken: "rt")
        #expect(harness.token == nil)
        #expect(harness.begins())
    }

    @Test func `is only good for its refresh token where the civil clock was set back by more than its age`()
    {
        let harness = EngineHarness()
        harness.wall = harness.wall + .seconds(-86_400)
        var stored = StoredSession(identity: "default", generation: 1, binding: harness.state.binding)
        stored.accessToken = StoredAccessToken(
            token: .init("at"), generation: 1, expiresAt: harness.wall + .seconds(86_700),
            lifetime: .seconds(300),
            request: harness.state.request)
        harness.state.found(stored, at: harness.now, wall: harness.wall, jitter: 0)
        #expect(harness.token == nil && harness.begins())
    }

    @Test func `that is older than ours is ignored`() {
        let harness = EngineHarness()
        harness.find(generation: 5, accessToken: "ours")
        #expect(!harness.find(generation: 4, accessToken: "theirs"))
        #expect(harness.token == "ours")
    }

    @Test func `that another client began since then is not replaced by what ours could not store`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "one")
        harness.state.isUnsaved = true
        harness.state.found(
            StoredSession(identity: "default", generation: 9, binding: "another client"), at: harness.now,
            wall: harness.wall, jitter: 0)
        #expect(!harness.state.needsSaving)
    }

    @Test(arguments: [true, false])
    func `that another made of the same one counts more than ours, written or not`(isSaved: Bool) {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        _ = harness.begins()
        _ = harness.state.received(
            TokenResponse(accessToken: .init("ours"), lifetime: .seconds(300), refreshToken: .init("mine")),
            sentAt: harness.now, wall: harness.wall, jitter: 0)
        harness.state.attemptEnded(at: harness.now, isSaved: isSaved)
        let ours = harness.state.session
        // What we have written ourselves is nothing new, whether or not we were told that it is.
        #expect(!harness.find(ours))
        var theirs = ours
        theirs.refreshToken = .init("theirs")
        theirs.lastRefresh = harness.wall + .seconds(-5)
        theirs[harness.state.request] = StoredAccessToken(
            token: .init("theirs"), generation: ours.generation, expiresAt: harness.wall + .seconds(300),
            lifetime: .seconds(300), request: harness.state.request)
        #expect(harness.find(theirs))
        #expect(harness.token == "theirs" && !harness.state.needsSaving)
        #expect(harness.state.session.refreshToken?.matches(Array("theirs".utf8)) == true)
        #expect(!harness.find(theirs))
    }

    @Test func `of the same generation gives way to ours where a person began that later`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        harness.renew()
        harness.state.session.began = harness.wall
        var stored = StoredSession(
            identity: "default", generation: harness.state.session.generation, binding: harness.state.binding)
        stored.began = harness.wall + .seconds(-5)
        #expect(!harness.find(stored))
    }

    @Test func `that has lost a logout gets it again, and nobody logs in by the older one`() {
        let harness = EngineHarness(grantType: .refreshToken)
        harness.find(generation: 2, accessToken: "at", refreshToken: "rt")
        var before = harness.state.session
        before.began = harness.wall + .seconds(-60)
        let end = before.loggedOut(binding: harness.state.binding, at: harness.wall)
        #expect(harness.find(end) && !harness.state.needsSaving)
        // As often as somebody who has not heard of the logout renews it, too.
        for generation in 2...5 {
            before.generation = generation
            #expect(!harness.find(before))
            #expect(harness.word == .loginRequired, "\(generation)")
            #expect(harness.state.record?.origin == end.origin, "\(generation)")
        }
        // Nothing says that the end is of what has no beginning.
        harness.find(generation: 1, refreshToken: "of-another-time")
        #expect(harness.state.record?.origin != end.origin)
    }

    @Test func `that is newer is adopted instead of refreshing`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "one")
        #expect(harness.find(generation: 2, accessToken: "theirs", refreshToken: "two"))
        #expect(harness.token == "theirs" && !harness.begins())
    }

    @Test func `that is newer but expired is refreshed with its refresh token`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "one")
        harness.find(generation: 2, accessToken: "theirs", lifetime: .seconds(-5), refreshToken: "two")
        _ = harness.begins()
        guard case .refresh(let token)? = harness.state.asked?.grant else {
            Issue.record("no refresh")
            return
        }
        #expect(token.matches(Array("two".utf8)))
    }

    @Test func `has worked once it brought a refresh token, and what that is stored as has not yet`() throws {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "one")
        #expect(!harness.state.hasStoredWorked)
        _ = harness.begins()
        let grant = TokenResponse(
            accessToken: .init("at"), lifetime: .seconds(300), refreshToken: .init("two"))
        _ = harness.state.received(grant, sentAt: harness.now, wall: harness.wall, jitter: 0)
        #expect(harness.state.hasStoredWorked, "of the one that is replaced")
        harness.state.attemptEnded(at: harness.now, isSaved: true)
        #expect(!harness.state.hasStoredWorked)
        harness.state.tokenAccepted(generation: harness.generation, route: "/")
        #expect(harness.state.hasStoredWorked)
    }

    @Test func `of another client is not used, and overwritten with a larger generation`() {
        let harness = EngineHarness(grantType: .clientCredentials)
        harness.find(
            generation: 9, accessToken: "theirs", refreshToken: "secret", binding: "https://evil.example app")
        #expect(harness.token == nil && harness.state.session.refreshToken == nil)
        harness.renew(to: "ours")
        #expect(harness.state.session.generation == 10)
    }

    @Test func `for another scope lends its refresh token alone`() {
        let harness = EngineHarness { $0.scope = ["write"] }
        var stored = StoredSession(identity: "default", generation: 3, binding: harness.state.binding)
        stored.refreshToken = .init("rt")
        stored.accessToken = StoredAccessToken(
            token: .init("at"), generation: 3, expiresAt: harness.wall + .seconds(300),
            lifetime: .seconds(300),
            request: EngineHarness().state.request)
        harness.state.found(stored, at: harness.now, wall: harness.wall, jitter: 0)
        #expect(harness.token == nil && harness.state.session.refreshToken != nil)
    }

    @Test func `of somebody who logged in ends login_required`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "dead")
        harness.fail(.final)
        #expect(harness.word == .loginRequired)
        harness.find(generation: 9, refreshToken: "fresh")
        #expect(harness.begins())
        harness.land()
        #expect(harness.word == .authorized)
    }

    @Test func `that was refused for good stays refused after a restart`() {
        let harness = EngineHarness(grantType: .refreshToken)
        harness.find(generation: 3, refreshToken: "dead", refusal: .invalidGrant)
        #expect(harness.word == .loginRequired && !harness.begins())
        #expect(harness.state.status(at: harness.now).lastError?.code == "invalid_grant")
    }

    @Test func `whose token somebody invalidated is adopted without one`() {
        let harness = EngineHarness()
        harness.renew(to: "one")
        harness.find(generation: 7)
        #expect(harness.token == nil && harness.begins())
    }

    @Test func `that could not be written is written over an equal count, or gives way to a later one`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        _ = harness.begins()
        _ = harness.state.received(
            TokenResponse(accessToken: .init("ours"), lifetime: .seconds(300)), sentAt: harness.now,
            wall: harness.wall,
            jitter: 0)
        harness.state.attemptEnded(at: harness.now, isSaved: false)
        harness.find(harness.state.session)
        harness.pass(.seconds(5))
        _ = harness.begins()
        #expect(harness.state.record?.generation == 3)
        #expect(!harness.state.isUnsaved)
    }

    @Test func `has the scope that was asked for, where the answer does not tell another one`() {
        let harness = EngineHarness { $0.scope = ["api", "admin"] }
        var stored = StoredSession(identity: "default", generation: 3, binding: harness.state.binding)
        stored.scope = ["api"]
        harness.find(stored)
        harness.renew()
        #expect(harness.state.session.scope == ["api", "admin"])
    }
}
