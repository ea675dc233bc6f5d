// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// The order of what people do to one session, whoever answers late.
@Suite struct `What people do to a session` {
    private let run = EngineRun()

    /// A login whose code is sent now.
    private func login() -> EngineCommand {
        let grant = TokenResponse(
            accessToken: Secret("at"), lifetime: .seconds(300), refreshToken: Secret("login"))
        return .login(grant, 0, sentAt: run.now, wall: run.wall)
    }

    private static let imported = EngineCommand.importing(SessionImport(refreshToken: Secret("imported")))

    private var storedToken: String? { run.stored.refreshToken?.withPlaintext { $0 } }

    private func result(of id: CommandID, in actions: [EngineAction]) -> CommandResult? {
        actions.compactMap { if case .finish(id, let result) = $0 { result } else { nil } }.first
    }

    private func isGivenUp(_ actions: [EngineAction]) -> Bool {
        if case .refused(let failure)? = result(of: 1, in: actions) {
            failure.reason == .superseded
        } else {
            false
        }
    }

    @Test(arguments: ["login", nil, "imported"])
    func `does not wait for a revocation that the server is still to answer`(token: String?) throws {
        let revocation = try #require(run.play(.commanded(1, .revoke([.refreshToken]))).performed)
        let command =
            switch token {
            case "login": login()
            case "imported": Self.imported
            default: EngineCommand.logout(isLocal: true)
            }
        let actions = run.play(.commanded(2, command))
        #expect(isGivenUp(actions) && actions.hungUp == [revocation])
        #expect(actions.isFinished(2) && storedToken == token)
        run.play(.performed(revocation, .success(.revoked([.refreshToken], nil))))
        #expect(storedToken == token)
    }

    @Test func `does not wait for that of the configuration before a reload`() throws {
        let revocation = try #require(run.play(.commanded(1, .revoke([.refreshToken]))).performed)
        let actions = run.play(.roomWanted)
        #expect(isGivenUp(actions) && actions.hungUp == [revocation] && actions.releases == [false])
    }

    @Test(arguments: [false, true])
    func `ends a login whose code was sent before, if it was a logout elsewhere`(isKnown: Bool) {
        let late = login()
        run.pass(.seconds(1))
        run.stored = run.stored.loggedOut(binding: run.stored.binding, at: run.wall)
        run.pass(.seconds(1))
        if isKnown { run.play(.storeChanged(isWritable: false)) }
        let actions = run.play(.commanded(1, late))
        guard case .outdone? = result(of: 1, in: actions) else {
            Issue.record("\(actions.count) actions")
            return
        }
        #expect(storedToken == nil && actions.revoked.contains("login"))
    }

    @Test func `ends no login that begins later, however far the clock of such a logout ran ahead`() {
        run.stored = run.stored.loggedOut(binding: run.stored.binding, at: run.wall + .seconds(3600))
        run.play(.storeChanged(isWritable: false))
        run.play(.commanded(1, login()))
        #expect(storedToken == "login")
    }

    @Test func `leaves no import to begin after a logout that has followed it`() {
        run.locks = false
        run.play(.commanded(1, Self.imported))
        let actions = run.play(.commanded(2, .logout(isLocal: true)))
        if case .failed(.outdated)? = result(of: 1, in: actions) {} else { Issue.record("it goes on") }
        #expect(run.lock().isFinished(2) && storedToken == nil)
    }

    @Test func `leaves to a logout an import that is being stored`() {
        run.saves = false
        run.play(.commanded(1, Self.imported))
        run.play(.commanded(2, .logout(isLocal: true)))
        run.saves = true
        #expect(run.save().isFinished(1) && storedToken == nil)
    }

    @Test func `is not waited for at the end, where the configuration brings again what somebody waits for`()
    {
        let run = EngineRun(.clientCredentials)
        let refresh = EngineEvent.refreshRequested(
            0, TokenAdditions(), by: 7, until: run.now + .seconds(60))
        guard let asked = run.play(refresh).asked else {
            Issue.record("nothing is asked for")
            return
        }
        let actions = run.play(.stopping)
        #expect(actions.hungUp == [asked] && actions.isQuiet)
        #expect(run.play(.stopped).failed == [7])
    }
}
