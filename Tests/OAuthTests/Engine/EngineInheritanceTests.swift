// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A session that is in memory alone, and handed over to another identity of the same name, or ended by somebody else.
@Suite struct `A session that could not be written` {
    @Test(arguments: [nil, "two"] as [String?])
    func `is handed over with word whether others may have sent its refresh token`(own: String?) {
        let run = EngineRun()
        var given = run.stored
        given.generation = 3
        given.refreshToken = Secret("two")
        (run.refusesWrites, run.isMarked) = (true, true)
        run.play(
            .inherited(
                Inheritance(
                    session: given, isOutrankingStored: false, ownToken: own.map { Secret($0) }, lease: nil)))
        let actions = run.play(.started)
        #expect((actions.asked == nil) == (own == nil) && (actions.probed == nil) == (own != nil))
    }

    @Test
    func
        `is written at once by whom it is handed over to, with a claim: another process may be about to repeat`()
    {
        let run = EngineRun()
        run.locks = false
        var given = run.stored
        (given.generation, given.refreshToken) = (2, Secret("two"))
        let inheritance = Inheritance(
            session: given, isOutrankingStored: false, ownToken: given.refreshToken, lease: nil)
        #expect(run.play(.inherited(inheritance)).isClaiming)
        #expect(run.lock().saved.map { $0.matches(Secret("two")) } == [true])
    }

    @Test(arguments: [false, true])
    func `is revoked where another process has logged out meanwhile, unless that was to end it here alone`(
        isLocal: Bool
    ) throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        var ended = run.stored.loggedOut(binding: run.stored.binding, at: run.wall + .seconds(1))
        ended.isEndOnlyHere = isLocal
        run.stored = ended
        #expect(run.play(.storeChanged(isWritable: false)).revoked == (isLocal ? [] : ["two"]))
        #expect(run.engine.session.refreshToken == nil)
    }

    @Test(arguments: [false, true])
    func `is revoked, too, where the identity that it is handed over to has read the logout`(isLocal: Bool) {
        let run = EngineRun()
        var given = run.stored
        (given.generation, given.refreshToken) = (2, Secret("two"))
        run.stored.generation = 5
        run.stored = run.stored.loggedOut(binding: run.stored.binding, at: run.wall + .seconds(1))
        run.stored.isEndOnlyHere = isLocal
        run.play(.storeChanged(isWritable: false))
        let inheritance = Inheritance(
            session: given, isOutrankingStored: false, ownToken: given.refreshToken, lease: nil)
        #expect(run.play(.inherited(inheritance)).revoked == (isLocal ? [] : ["two"]))
        #expect(run.engine.session.refreshToken == nil)
    }

    @Test func `is not revoked where another client's session has ended`() throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        run.stored = run.stored.loggedOut(binding: "another", at: run.wall + .seconds(1))
        run.stored.generation = 9
        #expect(run.play(.storeChanged(isWritable: false)).revoked == [])
        #expect(run.engine.session.refreshToken?.matches(Secret("two")) == true)
    }

    @Test func `that gave way to one with an older refresh token, which was refused, is taken up again`() {
        let run = EngineRun()
        var newest = run.stored
        // The store has gone back, and who has only just begun has sent the older one.
        (run.stored.generation, run.stored.refreshToken) = (3, Secret("zero"))
        run.stored.refusal = .invalidGrant
        run.play(.storeChanged(isWritable: false))
        #expect(run.engine.session.refreshToken?.matches(Secret("zero")) == true)
        newest.generation = 4
        run.stored = newest
        #expect(run.play(.storeChanged(isWritable: false)).saved.isEmpty)
        #expect(run.engine.session.refreshToken?.matches(Secret("one")) == true)
    }

    @Test(arguments: [StoreError.leaseLost, .outdated])
    func `is not said to go on where it ends because of a logout elsewhere`(failure: StoreError) throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        #expect(run.play(run.answer(first, refreshToken: "two")).storeFailures == [.unavailable("no space")])
        run.stored = run.stored.loggedOut(binding: run.stored.binding, at: run.wall + .seconds(1))
        run.writeFailure = failure
        run.pass(.seconds(5))
        #expect(run.play(.timePassed).storeFailures.isEmpty)
        #expect(run.engine.session.refreshToken == nil && !run.engine.needsWriting)
    }

    @Test func `is not revoked where somebody has logged in elsewhere and got an access token alone`() throws
    {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        var login = run.stored.loggedOut(binding: run.stored.binding, at: run.wall + .seconds(1))
        login.accessTokens = [
            StoredAccessToken(
                token: Secret("theirs"), generation: login.generation, expiresAt: run.wall + .seconds(300),
                lifetime: .seconds(300), request: "")
        ]
        run.stored = login
        #expect(run.play(.storeChanged(isWritable: false)).revoked == [])
        #expect(run.engine.session.refreshToken == nil)
    }

    @Test func `counts as a login where it is handed over as one, however often the other one has changed`() {
        let run = EngineRun()
        run.refusesWrites = true
        var present = run.stored
        (present.generation, present.began) = (4, run.wall)
        run.play(
            .inherited(Inheritance(session: present, isOutrankingStored: false, ownToken: nil, lease: nil)))
        var login = StoredSession(identity: "default", generation: 2, binding: run.stored.binding)
        (login.began, login.refreshToken) = (run.wall + .seconds(1), Secret("login"))
        for isOutranking in [true, false] {
            run.play(
                .inherited(
                    Inheritance(
                        session: login, isOutrankingStored: isOutranking, ownToken: login.refreshToken,
                        lease: nil)))
            login = run.engine.session
            #expect(login.refreshToken?.matches(Secret("login")) == true && run.engine.needsWriting)
            #expect(run.engine.inheritance.isOutrankingStored)
        }
    }

    @Test(arguments: [false, true])
    func `changes no more while it is handed over`(isTaken: Bool) throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        #expect(run.engine.mayHandOver)
        run.pass(.seconds(10))
        run.play(.handingOver(1000))
        #expect(run.engine.storeAskedAt == run.now, "the store is not said to be silent")
        #expect(!run.engine.mayHandOver && run.engine.inheritance.lease != nil)
        run.pass(.seconds(10))
        #expect(run.play(.refreshRequested(0, TokenAdditions(), by: 2, until: run.now)).asked == nil)
        run.locks = false
        let atOnce = run.play(.handedOver(1000, isTaken: isTaken))
        if isTaken { #expect(run.engine.session.isDoubted, "the other one sends it from now on") }
        run.pass(.seconds(6))
        let actions = atOnce + run.play(.timePassed)
        // Who keeps it goes on; who does not waits for the lease as all others do.
        #expect((actions.saved.isEmpty && actions.asked == nil) == isTaken)
        #expect(run.engine.needsWriting == !isTaken && (run.engine.lease == nil) == isTaken)
    }

    @Test(arguments: [true, false])
    func `keeps others from the token that it has taken the place of, though a person has ended it`(
        isLogin: Bool
    ) throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        #expect(run.play(run.answer(first, refreshToken: "two")).releases.isEmpty)
        let grant = TokenResponse(
            accessToken: Secret("theirs"), lifetime: .seconds(300), refreshToken: Secret("login"))
        let command =
            isLogin ? EngineCommand.login(grant, 0, sentAt: run.now, wall: run.wall) : .logout(isLocal: true)
        #expect(run.play(.commanded(1, command)).releases.isEmpty)
        for _ in 0..<3 {
            run.pass(.seconds(5))
            #expect(run.play(.timePassed).releases.isEmpty)
        }
        var stopped = run.engine
        let moment = Moment(now: run.now, wall: run.wall, jitter: 0)
        #expect(stopped.handle(.stopped, at: moment).releases == [true], "and leaves word of it at the end")
        run.refusesWrites = false
        run.pass(.seconds(5))
        #expect(run.play(.timePassed).releases == [false])
        #expect(run.stored.refreshToken?.matches(Secret("login")) == (isLogin ? true : nil))
    }
}
