// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// What people want of a process.
extension ModelProcess {
    func command() {
        let id = newID()
        waiting[id] = world.now + .seconds(300)
        let kind = Int.random(in: 0..<10, using: &world.random)
        switch kind {
        case 0..<4:
            var grant = TokenResponse(accessToken: Secret("login \(name) \(id)"), lifetime: .seconds(60))
            grant.refreshToken = world.provider.begin()
            world.provider.endAll(but: grant.refreshToken)
            world.note("\(name) logs in")
            take(.commanded(id, .login(grant, 0, sentAt: world.now, wall: world.wall)))
        case 4..<6:
            world.provider.endAll(but: nil)
            world.note("\(name) logs out")
            take(.commanded(id, .logout(isLocal: world.chance(50))))
        case 6:
            let imported = SessionImport(refreshToken: world.provider.begin())
            world.provider.endAll(but: nil)
            world.note("\(name) imports")
            take(.commanded(id, .importing(imported)))
        case 7: take(.commanded(id, .register(redirectURI: "http://127.0.0.1/callback")))
        case 8: take(.commanded(id, .revoke([.refreshToken, .accessToken])))
        default: take(.commanded(id, .keeping { _ in PendingLogin(request: Secret("a request")) }))
        }
    }

    func perform(_ ticket: Ticket, _ command: EngineCommand, _ session: StoredSession) {
        let isRefused = world.chance(30)
        world.after(world.seconds(0.01...8), for: self) {
            guard !isRefused, case .revoke(let hints) = command else {
                let failure = TokenFailure(.transient, .status(503), detail: "")
                return self.take(.performed(ticket, .failure(failure)))
            }
            self.world.provider.revoked(session.refreshToken)
            self.take(.performed(ticket, .success(.revoked(Set(hints), nil))))
        }
    }

    func finished(_ id: CommandID, _ result: CommandResult) {
        world.note("\(name) finishes \(id): \(String("\(result)".prefix { $0 != "(" }))")
        answered(id)
    }
}
