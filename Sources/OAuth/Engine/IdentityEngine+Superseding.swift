// SPDX-License-Identifier: Apache-2.0

import BearerdJSONText

/// The decisions of people that count over what goes on, and wait for none of it.
extension IdentityEngine {
    /// Returns true if a person has decided otherwise since a login's code was sent: to log out, or to log in by the
    /// configuration that has taken this one's place.
    func isOutdone(_ sentAt: Instant, _ wall: WallTime) -> Bool {
        if let loggedOutAt, sentAt < loggedOutAt { return true }
        guard isLeaving, let began = othersSession?.began else { return false }
        return wall < began
    }

    /// Ends a login that counts no more, and has the server forget its tokens, unless a session stands: there are servers that
    /// end that one with them.
    mutating func outdo(_ queued: QueuedCommand, _ grant: TokenResponse, _ id: TargetID) {
        if session.refreshToken == nil, othersSession == nil {
            let (token, hint) = grant.revocable
            act(.revoke(token, hint, of: requestingClient(of: id)))
        }
        act(.finish(queued.id, .outdone))
    }

    /// Takes note of a logout in another process, or by another configuration: a login whose code was sent before it does not
    /// count.
    ///
    /// A clock that runs ahead there makes it no later than now, so that it ends no login that begins from here on.
    mutating func noteLogout(_ stored: StoredSession) {
        guard stored.origin != session.origin, let began = stored.began, stored.refreshToken == nil,
            stored.accessTokens.isEmpty
        else { return }
        let end = now - max(.zero, moment.wall - began)
        loggedOutAt = max(loggedOutAt ?? end, end)
    }

    /// Somebody else began a session later than our login or logout, which counts instead.
    ///
    /// - Parameter endsWrites: true if whoever waits for a write hears that too, and not what is stored in its place.
    mutating func outdo(endsWrites: Bool = true) {
        func isOutdone(_ queued: QueuedCommand) -> Bool {
            if case .write = queued.command { return endsWrites }
            return queued.isApplied && queued.command.endsSession
        }
        let outdone = commands.filter(isOutdone)
        commands.removeAll(where: isOutdone)
        for queued in outdone {
            // Tokens that the authorization server has revoked are revoked all the same.
            if case .revoked(let hints)? = queued.result {
                act(.finish(queued.id, .revoked(hints)))
            } else {
                act(.finish(queued.id, .outdone))
            }
        }
    }

    /// The session that a logout ends was renewed by another process: its newest tokens are the ones to be revoked.
    mutating func noteEnded(_ stored: StoredSession) {
        for index in commands.indices {
            guard let ended = commands[index].ended, ended.binding.hasSameBytes(as: stored.binding),
                ended.generation < stored.generation, !stored.begins(after: session)
            else { continue }
            commands[index].ended = stored
        }
    }

    /// Gives up a revocation that the server has not answered, and that would keep a person waiting who does something else
    /// with the session.
    mutating func giveUpRevocation() {
        guard case .performing(let ticket, .revoke) = phase, let index = performedCommand else { return }
        act(.hangUp(ticket))
        let failure = TokenFailure(
            .transient, .superseded,
            detail:
                "the authorization server had not answered the revocation when somebody logged in or out, or brought another session"
        )
        act(.finish(commands.remove(at: index).id, .refused(failure)))
        phase = .holding
    }

    /// Ends the imports that wait for the lease: one that a logout has followed must not begin a session after it.
    mutating func outdoImports() {
        func isOutdone(_ queued: QueuedCommand) -> Bool {
            if case .importing = queued.command { true } else { false }
        }
        // What is being stored is ended by the logout as the session that it finds.
        let first = if case .saving(_, _, .command) = phase { 1 } else { 0 }
        let outdone = commands.dropFirst(first).filter(isOutdone)
        commands = commands.prefix(first) + commands.dropFirst(first).filter { !isOutdone($0) }
        for queued in outdone { act(.finish(queued.id, .failed(.outdated))) }
    }

    /// Another identity of the name has something to do for a person.
    mutating func roomWanted() {
        guard case .performing(_, .revoke) = phase else { return makeRoom() }
        giveUpRevocation()
        guard !needsWriting else { return }
        pauseEnd = now + Self.claimPause
        releaseLease()
        phase = .idle
    }
}
