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
