// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// What a program reads of a session's states.
struct `The states of a session` {
    @Test func `begin with the present one and tell each that follows`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        try await harness.run("rt0") {
            var states = harness.session.states.makeAsyncIterator()
            #expect(await states.next() == .authorized)
            _ = await harness.session.logOut(onlyHere: true)
            #expect(await states.next() == .loginRequired)
            try await harness.session.take(Secret("other"))
            while let state = await states.next(), state != .authorized {
                #expect(state == .refreshing || state == .empty)
            }
            await harness.session.stop()
            while await states.next() != nil {}
        }
    }

    @Test func `of one that was not started are those of the store`() async {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.replace(with: harness.stored(1, accessToken: "at0", refreshToken: "rt0"))
        var states = harness.session.states.makeAsyncIterator()
        #expect(await states.next() == .authorized)
        await harness.session.stop()
        #expect(await states.next() == nil)
    }

    @Test func `keep nothing alive, and end with the session`() async {
        let harness = SessionHarness(grantType: .authorizationCode)
        var session: AuthSession? = AuthSession(
            configuration: await harness.session.engine.configured, executor: harness.session.executor,
            clock: harness.clock, transport: harness.server, store: harness.store,
            credentials: harness.secret, observer: harness.journal)
        weak let known = session
        let states = session?.states
        var reader = states?.makeAsyncIterator()
        session = nil
        #expect(known == nil)
        #expect(await reader?.next() == nil)
        for await state in states ?? harness.session.states { Issue.record("\(state)") }
        await harness.session.stop()
    }

    @Test func `end with a task that reads them`() async {
        let harness = SessionHarness(grantType: .authorizationCode)
        let reader = Task {
            var all: [SessionState] = []
            for await state in harness.session.states { all.append(state) }
            return all
        }
        await harness.settle()
        reader.cancel()
        #expect(await reader.value.allSatisfy { $0 == .loginRequired })
        await harness.session.stop()
    }

    @Test func `tell of a request under way`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(.held)
        try await harness.run("rt0") {
            #expect(await harness.session.isAuthorizing)
            harness.server.release()
            await harness.settle()
            #expect(await !harness.session.isAuthorizing)
        }
    }
}

/// A token that a program says needs a refresh.
struct `A token that needs a refresh` {
    private func fresh(_ harness: SessionHarness) async throws -> String {
        try await harness.session.withFreshTokens { $0.accessToken }
    }

    @Test func `is renewed before the next use, and not earlier`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            await harness.session.setNeedsTokenRefresh()
            await harness.settle()
            #expect(harness.server.bodies.count == 1 && harness.token == nil)
            let tokens = [try await fresh(harness), try await fresh(harness)]
            #expect(tokens == ["at2", "at2"])
            await harness.session.setNeedsTokenRefresh()
            let next = try await harness.request()
            #expect(next == "at3")
        }
    }

    @Test func `is used on where none can be had`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.script(.status(503))
            await harness.session.setNeedsTokenRefresh()
            let token = try await fresh(harness)
            #expect(token == "at1")
            #expect(harness.server.bodies.count == 2)
        }
    }

    @Test func `that nobody has changes nothing`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        try await harness.run {
            await harness.session.setNeedsTokenRefresh()
            #expect(harness.server.bodies.isEmpty)
            await #expect(throws: TokenError.loginRequired) { try await harness.request() }
        }
    }
}
