// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A store that holds the session of the client that was configured before.
@Suite struct `Another client's stored session` {
    private let run = EngineRun()

    /// That session, with a refresh token.
    private func others(generation: Int, began: WallTime?) -> StoredSession {
        var others = StoredSession(
            identity: "default", generation: generation, binding: "https://sso.example another")
        others.refreshToken = Secret("another's")
        others.began = began
        return others
    }

    private func find(_ session: StoredSession) {
        run.stored = session
        run.play(.storeChanged(isWritable: false))
    }

    private func login() -> EngineEvent {
        let grant = TokenResponse(
            accessToken: Secret("at"), lifetime: .seconds(300), refreshToken: Secret("login"))
        return .commanded(1, .login(grant, 0, sentAt: run.now, wall: run.wall))
    }

    private var holdsLogin: Bool { run.stored.refreshToken?.matches(Secret("login")) == true }

    /// True if the login has failed because of what a person decided later.
    private func isOutdone(_ actions: [EngineAction]) -> Bool {
        actions.contains { if case .finish(1, .outdone) = $0 { true } else { false } } && !holdsLogin
    }

    @Test(arguments: [EngineEvent.stopping, .targetLeaves(0)])
    func `that began while a login by the configuration of before was on its way stays`(end: EngineEvent) {
        let late = login()
        run.pass(.seconds(1))
        run.stored = others(generation: 9, began: run.wall)
        run.play(end)
        let actions = run.play(late)
        // Some servers would end the other session with these tokens.
        #expect(isOutdone(actions) && actions.revoked.isEmpty)
        #expect(run.stored.refreshToken?.matches(Secret("another's")) == true)
    }

    @Test(arguments: [false, true])
    func `is not needed to end a login whose code was sent before a logout`(isWritable: Bool) {
        let late = login()
        run.pass(.seconds(1))
        run.refusesWrites = !isWritable
        run.play(.commanded(2, .logout(isLocal: true)))
        let actions = run.play(late)
        #expect(isOutdone(actions) && actions.revoked == ["login"])
        run.play(login())
        #expect(holdsLogin == isWritable && run.engine.session.refreshToken?.matches(Secret("login")) == true)
    }

    @Test func `is not needed for that either where a refresh of the next session goes on meanwhile`() {
        let late = TokenResponse(
            accessToken: Secret("at"), lifetime: .seconds(300), refreshToken: Secret("late"))
        let (sentAt, wall) = (run.now, run.wall)
        run.pass(.seconds(1))
        run.play(.commanded(2, .logout(isLocal: true)))
        run.pass(.seconds(1))
        run.play(login())
        let asked = run.play(.refreshRequested(0, TokenAdditions(), by: 7, until: run.now + .seconds(10)))
            .asked
        let actions = run.play(.commanded(3, .login(late, 0, sentAt: sentAt, wall: wall)))
        #expect(actions.isFinished(3) && actions.hungUp.isEmpty && actions.revoked.isEmpty)
        #expect(asked != nil && run.engine.targetInHand == 0 && holdsLogin)
    }

    @Test func `has nothing to do with a request that the configuration makes again, which ends with it`() {
        let run = EngineRun(.clientCredentials)
        run.stored.refreshToken = nil
        guard let asked = run.play(.started).asked else {
            Issue.record("nothing is asked for")
            return
        }
        let actions = run.play(.stopping)
        #expect(actions.hungUp == [asked] && actions.isQuiet)
    }

    @Test(arguments: [(9, false), (9, true), (10, true), (20, true)])
    func `that the store goes back to is replaced again by the login that had taken its place`(
        generation: Int, isDated: Bool
    ) {
        let began: WallTime? = isDated ? run.wall + .seconds(-60) : nil
        find(others(generation: 9, began: began))
        #expect(run.engine.othersWords != nil && !run.engine.needsWriting)
        run.play(login())
        #expect(holdsLogin && run.stored.generation == 10)
        find(others(generation: generation, began: began))
        #expect(holdsLogin && run.stored.generation > generation)
        #expect(run.engine.othersWords == nil && !run.engine.needsWriting)
    }

    @Test func `that was begun later than a login that could not be written is what a command hears of`() {
        run.refusesWrites = true
        run.play(login())
        run.refusesWrites = false
        run.pass(.seconds(1))
        run.stored = others(generation: 9, began: run.wall)
        let actions = run.play(.commanded(2, .write))
        let results = actions.compactMap { action -> CommandResult? in
            if case .finish(2, let result) = action { result } else { nil }
        }
        guard case .unwritten(.refused(let reason))? = results.first else {
            Issue.record("\(results.count) results")
            return
        }
        #expect(reason.contains("https://sso.example another"))
        #expect(!holdsLogin)
    }

    @Test func `that was ended later than such a login began is not taken for the login's being written`() {
        run.refusesWrites = true
        run.play(login())
        run.refusesWrites = false
        run.pass(.seconds(1))
        let before = others(generation: 9, began: run.wall)
        run.stored = before.loggedOut(binding: before.binding, at: run.wall)
        let actions = run.play(.commanded(2, .write))
        let results = actions.compactMap { action -> CommandResult? in
            if case .finish(2, let result) = action { result } else { nil }
        }
        guard case .outdone? = results.first else {
            Issue.record("\(results)")
            return
        }
        #expect(!holdsLogin && results.count == 1)
        // Its tokens are nobody's, here neither.
        #expect(actions.revoked == ["login"] && !run.engine.session.holdsTokens && !run.engine.needsWriting)
        run.pass(.seconds(10))
        run.play(.timePassed)
        #expect(run.stored.binding == before.binding && !run.stored.holdsTokens)
    }

    @Test func `is replaced by a registration, but not by one that could not be written`() throws {
        find(others(generation: 9, began: run.wall))
        let client = ClientRegistration(clientID: "made", authentication: .none, replacedClientID: "app")
        for isRefused in [true, false] {
            run.refusesWrites = isRefused
            let performing = try #require(run.play(.commanded(1, .register(redirectURI: ""))).performed)
            run.play(.performed(performing, .success(.registered(client))))
            run.refusesWrites = false
            run.pass(.seconds(5))
            run.play(.timePassed)
            #expect(run.stored.registration?.clientID == (isRefused ? nil : "made"))
        }
        #expect(run.engine.client(of: 0).clientID == "made" && run.stored.generation > 9)
    }

    @Test func `of a client that was registered gives way once a logout has ended it`() {
        var session = others(generation: 1, began: run.wall)
        session.registration = ClientRegistration(
            clientID: "made", authentication: .none, replacedClientID: "another")
        #expect(session.isIrreplaceable(at: run.wall))
        let ended = session.loggedOut(binding: session.binding, at: run.wall)
        #expect(ended.registration != nil && !ended.isIrreplaceable(at: run.wall))
    }

    @Test func `of another issuer leaves to an import no client that was made there`() throws {
        var client = ClientConfiguration(name: "default", clientID: "", grantType: .authorizationCode)
        client.issuer = "https://sso.example"
        var stored = others(generation: 3, began: run.wall)
        stored.registration = ClientRegistration(
            clientID: "made", authentication: .none, replacedClientID: "")
        func imported(over present: StoredSession) -> StoredSession? {
            StoredSession.importing(
                Secret("rt"), idToken: nil, scope: [], for: client, over: present, at: run.wall)
        }
        stored.binding = "https://other.example made"
        let next = try #require(imported(over: stored))
        #expect(next.registration == nil && next.binding == client.binding)
        stored.binding = "https://sso.example made"
        #expect(imported(over: stored)?.registration?.clientID == "made")
    }

    @Test func `does not count more than the login that replaces it, though its clock ran ahead`() {
        find(others(generation: 9, began: run.wall + .seconds(3600)))
        run.play(login())
        #expect(holdsLogin)
        #expect(run.stored.began.map { $0 > run.wall + .seconds(3600) } == true)
    }
}
