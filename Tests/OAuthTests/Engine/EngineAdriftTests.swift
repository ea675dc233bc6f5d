// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A refresh whose provider is silent, and which was left for somebody who wanted the lease.
@Suite struct `A refresh that was left for others` {
    /// Has the provider be silent, and the lease be let go.
    private func left(_ targets: Int = 1) throws -> (run: EngineRun, ticket: Ticket) {
        let run = EngineRun()
        for id in 1..<max(targets, 2) where id < targets { run.join(id) }
        let ticket = try #require(run.play(.started).asked)
        run.pass(.seconds(11))
        run.play(.timePassed)
        run.play(.roomWanted)
        #expect(run.engine.adrift != nil)
        return (run, ticket)
    }

    /// Another process stores an access token for the first target, so that the second one asks next.
    private func renewFirst(_ run: EngineRun) {
        run.stored.generation += 1
        run.stored.accessTokens = [
            StoredAccessToken(
                token: Secret("theirs"), generation: run.stored.generation,
                expiresAt: run.wall + .seconds(3000), lifetime: .seconds(3000),
                request: run.engine.targets[0]?.request ?? "")
        ]
        run.play(.storeChanged(isWritable: false))
    }

    @Test func `has its answer revoked that came before a revocation, and nothing waits for it`() throws {
        let (run, ticket) = try left()
        let asking = run.play(.commanded(1, .revoke([.refreshToken])))
        let performing = try #require(asking.performed)
        run.play(run.answer(ticket, refreshToken: "two"))
        let actions = run.play(.performed(performing, .success(.revoked([.refreshToken], nil))))
        #expect(actions.revoked == ["two"])
        #expect(run.play(.stopping).isQuiet && run.engine.orphans.isEmpty)
    }

    @Test func `is taken up by whichever target asks next`() throws {
        let (run, ticket) = try left(2)
        renewFirst(run)
        run.pass(.seconds(2))
        let actions = run.play(.timePassed)
        #expect(actions.asked == nil && !actions.hungUp.contains(ticket))
        guard case .asking(let asking) = run.engine.phase else {
            Issue.record("it waits for nothing")
            return
        }
        #expect(asking.requests == [ticket])
        let answered = run.play(run.answer(ticket, refreshToken: "two"))
        #expect(answered.saved.first?.matches(Secret("two")) == true)
        #expect(run.engine.targets[1]?.attempt != nil, "the other one asks with what it has brought")
    }

    @Test func `is taken up though its target has left, and its refresh token is kept`() throws {
        let (run, ticket) = try left(2)
        renewFirst(run)
        run.play(.targetLeft(0))
        run.pass(.seconds(2))
        let actions = run.play(.timePassed)
        #expect(actions.asked == nil && !actions.hungUp.contains(ticket))
        let answered = run.play(run.answer(ticket, refreshToken: "two"))
        #expect(answered.saved.first?.matches(Secret("two")) == true)
        #expect(run.engine.targets[1]?.attempt != nil, "the other one asks with what it has brought")
    }

    @Test func `has its answer taken at once, whoever asks next`() throws {
        let (run, ticket) = try left(2)
        run.locks = false
        renewFirst(run)
        run.pass(.seconds(2))
        run.play(.timePassed)
        run.play(run.answer(ticket, refreshToken: "two"))
        #expect(run.engine.session.refreshToken?.matches(Secret("two")) == true)
        #expect(run.lock().saved.first?.matches(Secret("two")) == true)
    }

    @Test func `is awaited by who stops, and its answer is written`() throws {
        for stopsFirst in [false, true] {
            let run = EngineRun()
            let ticket = try #require(run.play(.started).asked)
            run.pass(.seconds(11))
            run.play(.timePassed)
            if stopsFirst { #expect(!run.play(.stopping).isQuiet) }
            run.play(.roomWanted)
            if !stopsFirst { #expect(!run.play(.stopping).isQuiet) }
            run.pass(.seconds(20))
            let later = run.play(.timePassed)
            #expect(later.asked == nil && later.probed == nil && !later.hungUp.contains(ticket))
            #expect(run.play(run.answer(ticket, refreshToken: "two")).isQuiet)
            #expect(run.play(.commanded(1, .write)).saved.first?.matches(Secret("two")) == true)
        }
    }

    @Test func `is not awaited any more that has brought the same refresh token`() throws {
        for stopsFirst in [false, true] {
            let (run, ticket) = try left()
            if stopsFirst { #expect(!run.play(.stopping).isQuiet) }
            let actions = run.play(run.answer(ticket, refreshToken: "one"))
            #expect(stopsFirst ? actions.isQuiet : run.play(.stopping).isQuiet)
        }
    }

    @Test func `has its answer revoked by the client that sent it, whatever client there is by then`() throws
    {
        for isLeft in [false, true] {
            let run = EngineRun()
            let ticket = try #require(run.play(.started).asked)
            if isLeft {
                run.pass(.seconds(11))
                run.play(.timePassed)
            } else {
                run.play(.commanded(1, .logout(isLocal: false)))
            }
            let performing = try #require(run.play(.commanded(2, .register(redirectURI: ""))).performed)
            let client = ClientRegistration(
                clientID: "made", authentication: .none, replacedClientID: "app")
            run.play(.performed(performing, .success(.registered(client))))
            #expect(run.engine.client(of: 0).clientID == "made")
            let revoking = run.play(run.answer(ticket, refreshToken: "two"))
            #expect(revoking.revoked == ["two"] && revoking.revokers == ["app"])
        }
    }

    @Test func `keeps its lease for a write under way, though a login ends it and its target leaves`() throws
    {
        let run = EngineRun()
        run.join(1)
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        _ = try #require(run.play(.refreshRequested(0, TokenAdditions(), by: 2, until: run.now)).asked)
        run.pass(.seconds(11))
        (run.refusesWrites, run.saves) = (false, false)
        #expect(run.play(.timePassed).saved.count == 1)
        var grant = TokenResponse(accessToken: Secret("theirs"), lifetime: .seconds(300))
        grant.refreshToken = Secret("three")
        run.play(.commanded(1, .login(grant, 1, sentAt: run.now, wall: run.wall)))
        #expect(run.play(.targetLeft(0)).releases.isEmpty)
        run.saves = true
        run.save()
        #expect(run.stored.refreshToken?.matches(Secret("three")) == true)
    }

    @Test func `is doubted by the next target as another one's, where others had the lease meanwhile`() throws
    {
        let (run, ticket) = try left(2)
        run.pass(.seconds(2))
        run.play(.timePassed)
        #expect(run.engine.adrift == nil, "it is taken up")
        let died = TokenRequestResult(
            result: .failure(TokenFailure(.transient, .interrupted, detail: "")), sentAt: run.now,
            wall: run.wall)
        run.play(.answered(ticket, TokenRequestReport(outcome: died)))
        guard case .asking(let asking) = run.engine.phase, let question = asking.probe else {
            Issue.record("it asks nothing harmless")
            return
        }
        let next = run.play(.probed(question, TokenFailure(.transient, .timedOut, detail: "")))
        #expect(next.releases == [true] && next.probed == nil, "the provider is in trouble for all targets")
        run.pass(.seconds(2))
        let second = try #require(run.play(.timePassed).probed)
        #expect(run.play(.probed(second, nil)).asked == nil)
        run.pass(.seconds(5))
        let third = try #require(run.play(.timePassed).probed)
        #expect(run.play(.probed(third, nil)).asked != nil)
    }

    @Test func `is no trouble any more once another process has had its refresh token revoked`() throws {
        let (run, _) = try left()
        #expect(run.engine.targets[0]?.failure != nil)
        run.stored = run.stored.withoutTokens(forgettingRefreshToken: true)
        run.play(.storeChanged(isWritable: false))
        #expect(run.engine.targets[0]?.failure == nil && run.engine.adrift == nil)
    }

    @Test func `gives way to what another process has revoked meanwhile`() throws {
        let (run, ticket) = try left()
        run.locks = false
        run.play(run.answer(ticket, refreshToken: "two"))
        #expect(run.engine.session.refreshToken?.matches(Secret("two")) == true)
        run.stored.generation += 1
        run.stored.refreshToken = nil
        let actions = run.lock()
        #expect(actions.saved.isEmpty && actions.revoked == ["two"])
        #expect(run.stored.refreshToken == nil && run.engine.session.refreshToken == nil)
    }

    @Test func `is awaited no longer than to its answer where a logout and a lost lease follow`() throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        let second = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 2, until: run.now)).asked)
        run.pass(.seconds(11))
        (run.refusesWrites, run.saves) = (false, false)
        run.play(.timePassed)
        run.play(run.answer(second, refreshToken: "three"))
        #expect(run.play(.commanded(1, .logout(isLocal: false))).revoked == ["three"])
        run.markFailure = .leaseLost
        run.saves = true
        run.save()
        #expect(run.engine.orphans.isEmpty)
    }

    @Test func `has its answer taken though another process was refused meanwhile`() throws {
        let (run, ticket) = try left()
        run.stored.refusal = .invalidGrant
        renewFirst(run)
        run.pass(.seconds(2))
        run.play(.timePassed)
        #expect(run.engine.session.refusal == .invalidGrant && run.engine.targets[0]?.attempt == nil)
        run.play(run.answer(ticket, refreshToken: "two"))
        #expect(run.stored.refreshToken?.matches(Secret("two")) == true && run.stored.refusal == nil)
        #expect(run.engine.targets[0]?.usable(at: run.now) != nil)
    }

    @Test func `does not come before an import that is being written`() throws {
        let (run, ticket) = try left()
        run.saves = false
        run.play(.commanded(1, .importing(SessionImport(refreshToken: Secret("theirs")))))
        run.play(run.answer(ticket, refreshToken: "two"))
        run.saves = true
        let actions = run.save()
        #expect(run.stored.refreshToken?.matches(Secret("theirs")) == true)
        #expect(run.engine.session.refreshToken?.matches(Secret("theirs")) == true)
        #expect(actions.isFinished(1))
    }

    @Test(arguments: [false, true])
    func `is forgotten where a logout is followed by a login, here or elsewhere`(isElsewhere: Bool) throws {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        run.play(.commanded(1, .logout(isLocal: false)))
        #expect(run.engine.orphans.count == 1)
        run.pass(.seconds(60))
        let actions: [EngineAction]
        if isElsewhere {
            run.stored = run.stored.loggedOut(binding: run.stored.binding, at: run.wall)
            run.stored.refreshToken = Secret("three")
            actions = run.play(.storeChanged(isWritable: false))
        } else {
            let grant = TokenResponse(
                accessToken: Secret("theirs"), lifetime: .seconds(300), refreshToken: Secret("three"))
            actions = run.play(.commanded(2, .login(grant, 0, sentAt: run.now, wall: run.wall)))
        }
        #expect(actions.hungUp.contains(ticket) && run.engine.orphans.isEmpty)
        #expect(run.play(run.answer(ticket, refreshToken: "two")).revoked.isEmpty)
        #expect(run.engine.session.refreshToken?.matches(Secret("three")) == true)
    }

    // MARK: What the store may hold

    @Test func `is told in the store, where that has lost all word of it`() throws {
        let (run, _) = try left()
        // Somebody has put the record back after everything was deleted, the mark too.
        renewFirst(run)
        let actions = run.play(.commanded(1, .write))
        #expect(actions.saved.count == 1 && actions.releases == [true] && run.stored.isDoubted)
        // Who knew the generation that was put back would look into no record with the same one.
        #expect(run.stored.generation == 3)
        #expect(run.play(.commanded(2, .write)).saved.isEmpty, "once is enough")
    }

    @Test func `is told to those, too, who know the record that the store has lost`() throws {
        let (run, _) = try left()
        renewFirst(run)
        run.stored.generation = 1
        run.stored.accessTokens = []
        #expect(run.play(.storeChanged(isWritable: false)).saved.count == 1)
        #expect(run.stored.generation == 3 && run.stored.isDoubted)
    }

    @Test func `leaves another's mark where its own could not be set`() {
        for failure in [StoreError.unavailable("no space"), .leaseLost] {
            let run = EngineRun()
            run.isMarked = true
            run.markFailure = failure
            #expect(run.play(.started).releases == [true])
        }
    }

    @Test func `is preceded by another look at what may have been written, each time`() throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        run.readFailure = .unavailable("no reading")
        for name in ["three", "four"] {
            let actions = run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now))
            #expect(actions.readCount == 1, "and once is enough")
            run.play(run.answer(try #require(actions.asked), refreshToken: name))
        }
        run.readFailure = nil
        #expect(run.play(.commanded(1, .keeping { _ in PendingLogin() })).readCount == 1)
    }

    // MARK: While a provider hangs

    @Test func `begins nothing once the session is to stop`() throws {
        let run = EngineRun()
        let ticket = try #require(run.play(.started).asked)
        run.pass(.seconds(5))
        run.play(.stopping)
        for _ in 0..<60 {
            run.pass(.seconds(1))
            let actions = run.play(.timePassed)
            #expect(actions.asked == nil && actions.probed == nil)
        }
        #expect(run.play(run.answer(ticket, refreshToken: "two")).saved.first?.matches(Secret("two")) == true)
    }

    @Test func `ends where the session is to stop before a doubtful token was sent`() {
        let run = EngineRun()
        run.isMarked = true
        #expect(run.play(.started).probed != nil)
        let actions = run.play(.stopping)
        #expect(actions.isQuiet && actions.releases == [true], "the mark stays")
    }

    @Test func `is marked again where the mark could not be renewed`() throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        _ = try #require(run.play(.refreshRequested(0, TokenAdditions(), by: 2, until: run.now)).asked)
        run.pass(.seconds(11))
        run.markFailure = .unavailable("no space")
        run.refusesWrites = false
        #expect(run.play(.timePassed).marked == [2], "it is written, and its mark is not")
        run.pass(.seconds(1))
        run.markFailure = nil
        #expect(run.play(.timePassed).marked == [2])
        run.pass(.seconds(1))
        #expect(run.play(.timePassed).marked == [])
        guard case .asking = run.engine.phase else {
            Issue.record("it waits for nothing")
            return
        }
    }

    @Test func `is let go of where the lease turns out to be lost`() throws {
        let run = EngineRun()
        run.refusesWrites = true
        let first = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 1, until: run.now)).asked)
        run.play(run.answer(first, refreshToken: "two"))
        let second = try #require(
            run.play(.refreshRequested(0, TokenAdditions(), by: 2, until: run.now)).asked)
        run.pass(.seconds(11))
        run.markFailure = .leaseLost
        run.refusesWrites = false
        run.locks = false
        #expect(run.play(.timePassed).releases.count == 1)
        run.play(run.answer(second, refreshToken: "three"))
        run.markFailure = nil
        #expect(run.lock().saved.first?.matches(Secret("three")) == true)
    }
}
