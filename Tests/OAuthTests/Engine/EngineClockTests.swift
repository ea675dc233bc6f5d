// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// People who change a session while the civil clock is behind the moment at which it began, or the store has lost it.
@Suite struct `What a person does counts after what it ends` {
    /// An engine whose stored session began an hour after now.
    private func ahead() -> EngineRun {
        let run = EngineRun()
        run.stored.generation += 1
        run.stored.began = run.wall + .seconds(3600)
        run.play(.storeChanged(isWritable: false))
        return run
    }

    private func login(_ run: EngineRun, _ id: CommandID = 1) -> EngineEvent {
        let grant = TokenResponse(
            accessToken: Secret("theirs"), lifetime: .seconds(300), refreshToken: Secret("login"))
        return .commanded(id, .login(grant, 0, sentAt: run.now, wall: run.wall))
    }

    /// A login of another process that found nothing in the store.
    private func loginElsewhere(_ run: EngineRun) -> StoredSession {
        var login = StoredSession(identity: "default", generation: 1, binding: run.stored.binding)
        login.began = run.wall
        login.refreshToken = Secret("login")
        return login
    }

    @Test func `a logout, though the clock was set back since the login`() {
        let run = ahead()
        let actions = run.play(.commanded(1, .logout(isLocal: false)))
        let ended = actions.compactMap { action -> StoredSession? in
            if case .finish(1, .loggedOut(let session, nil)) = action { session } else { nil }
        }
        #expect(ended.first?.refreshToken?.matches(Secret("one")) == true)
        #expect(run.stored.refreshToken == nil && run.engine.session.refreshToken == nil)
        #expect(run.engine.session.began.map { $0 > run.wall + .seconds(3600) } == true)
    }

    @Test(arguments: [(12, true), (13, true), (15, false)])
    func `a token that seems to be from the future is not sent by whoever begins with it`(
        ahead: Int, isUsable: Bool
    ) throws {
        let run = EngineRun()
        var session = run.stored
        session.accessTokens = [
            StoredAccessToken(
                token: Secret("at"), generation: 1, expiresAt: run.wall + .seconds(ahead),
                lifetime: .seconds(12), request: try #require(run.engine.targets[0]).request,
                tokenType: "Bearer")
        ]
        var engine = IdentityEngine(
            run.engine.configured, at: Moment(now: run.now, wall: run.wall, jitter: 0))
        engine.compare(with: session)
        let usable = try #require(engine.targets[0]).usable(at: run.now)
        #expect((usable != nil) == isUsable && engine.session.accessTokens.count == 1)
        #expect(usable.map { $0.expiry <= run.now + .seconds(12) } ?? true)
    }

    @Test func `a login that could not be written, though the clock was set back since the one before`() {
        let run = ahead()
        run.refusesWrites = true
        run.play(login(run))
        for _ in 0..<3 {
            run.pass(.seconds(5))
            run.play(.timePassed)
        }
        #expect(run.engine.session.refreshToken?.matches(Secret("login")) == true)
        run.refusesWrites = false
        run.pass(.seconds(5))
        run.play(.timePassed)
        #expect(run.stored.refreshToken?.matches(Secret("login")) == true && !run.engine.needsWriting)
    }

    @Test func `an import, though the clock was set back since the login`() throws {
        let run = ahead()
        let before = run.stored
        run.play(.commanded(1, .importing(SessionImport(refreshToken: Secret("theirs")))))
        #expect(run.stored.refreshToken?.matches(Secret("theirs")) == true)
        let read = try #require(StoredSession(decoding: run.stored.encoded()))
        #expect(read.begins(after: before) && !before.begins(after: read), "in the stored form, too")
    }

    @Test(arguments: [true, false])
    func `a login elsewhere into a store that has lost a logout, or a session`(isLoggedOut: Bool) {
        let run = EngineRun()
        run.stored.began = run.wall
        run.stored.generation = 9
        run.play(.storeChanged(isWritable: false))
        if isLoggedOut { run.play(.commanded(1, .logout(isLocal: false))) }
        let last = run.stored
        run.pass(.seconds(3))
        run.stored = loginElsewhere(run)
        run.play(.storeChanged(isWritable: false))
        #expect(run.engine.session.refreshToken?.matches(Secret("login")) == true)
        #expect(run.stored.refreshToken?.matches(Secret("login")) == true && run.stored.generation > 9)
        // What was there before is not taken for a newer one when somebody puts it back.
        run.stored = last
        run.play(.storeChanged(isWritable: false))
        #expect(run.engine.session.refreshToken?.matches(Secret("login")) == true)
        #expect(run.stored.refreshToken?.matches(Secret("login")) == true)
    }
}
