// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// What people want of the session.
extension IdentityEngine {
    mutating func commanded(_ id: CommandID, _ command: Command) {
        var queued = QueuedCommand(id: id, command: command)
        guard stopMoment == nil else { return finish(queued, .busy(by: nil)) }
        switch command {
        case .login(let grant, let sentAt, let wall):
            orphanRequests(revokingAnswers: false)
            logIn(grant, sentAt: sentAt, wall: wall)
        case .logout(let isLocal):
            queued.ended = session
            orphanRequests(revokingAnswers: !isLocal)
            end(with: session.loggedOut(binding: binding, at: moment.wall))
            outranksStored = true
        case .importing, .keeping, .register, .revoke:
            break
        }
        commands.append(queued)
        writeMoment = now
        abandonRequest()
    }

    /// What requests that are under way bring is nobody's from here on.
    ///
    /// After a logout it is revoked, or the session would live on at the provider. After a login it is forgotten,
    /// because there are providers that end the new session with the old one's token: they tie both to one person, or
    /// to one session of the browser.
    private mutating func orphanRequests(revokingAnswers isRevoked: Bool) {
        var sent = unanswered.filter(\.isConnected)
        if case .asking(let request) = phase { sent.append(request) }
        if isRevoked { orphans.formUnion(sent.map(\.ticket)) }
        unanswered = []
    }

    /// The session that there was ended, so its request is not waited for.
    ///
    /// A lease in hand is the command's.
    private mutating func abandonRequest() {
        guard commands.last?.command.endsSession == true else { return }
        switch phase {
        case .asking, .judging, .silent, .holding: if lease != nil { workUnderLease() } else { phase = .idle }
        case .idle, .looking, .settling, .locking, .reading, .spending, .saving, .performing, .stopped: break
        }
    }

    private mutating func logIn(_ grant: TokenResponse, sentAt: Instant, wall: WallTime) {
        let fresh = session.beginning(configured, with: grant, at: wall)
        follow(fresh)
        for target in order { targets[target]?.isEnding = true }
        guard var state = targets[TokenTarget()] else { return }
        let lifetime =
            grant.lifetime ?? min(configured.defaultLifetime, ClientConfiguration.longestLifetime)
        let (next, token) = fresh.renewed(
            by: grant, lasting: lifetime, for: state.client, request: state.request, sentAt: sentAt,
            wall: wall,
            jitter: moment.jitter)
        state.isEnding = false
        state.pending = token
        if lifetime > .zero { state.knownLifetime = grant.lifetime }
        targets[TokenTarget()] = state
        session = next
        isUnwritten = true
        outranksStored = true
        replacedTokens = []
        holdsOthersSession = false
        rotates = nil
    }

    /// Another session takes the place of ours at once, and none of our tokens is used any more.
    private mutating func end(with next: StoredSession) {
        let generation = session.generation
        for target in order { targets[target]?.forget(upTo: generation) }
        session = next
        follow(next)
        isUnwritten = true
        writeMoment = now
        replacedTokens = []
        hasStoredWorked = false
        rotates = nil
    }

    // MARK: Under the lease

    /// Does what the first command still needs, now that the store was read and nothing of ours is unwritten.
    ///
    /// - Returns: false if there is nothing to do.
    mutating func performNext() -> Bool {
        guard !isUnwritten, let lease else { return false }
        while let queued = commands.first {
            switch queued.command {
            case .login, .logout:
                finish(commands.removeFirst(), nil)
            case .importing(let imported):
                guard let next = importing(imported) else {
                    commands.removeFirst()
                    act(.finish(queued.id, .unchanged))
                    continue
                }
                save(next, over: lease)
                return true
            case .keeping(let code, let request):
                save(keeping(code, request, over: lease.stored), over: lease)
                return true
            case .register:
                perform(queued.command)
                return true
            case .revoke(let hints, _):
                let hasAny =
                    hints.contains(.refreshToken) && session.refreshToken != nil
                    || hints.contains(.accessToken) && !session.accessTokens.isEmpty
                guard hasAny else {
                    commands.removeFirst()
                    act(.finish(queued.id, .revoked([])))
                    continue
                }
                perform(.revoke(hints, of: session))
                return true
            }
        }
        return false
    }

    private mutating func perform(_ command: Command) {
        let ticket = newTicket()
        phase = .performing(ticket, command)
        act(.perform(ticket, command))
    }

    private mutating func save(_ next: StoredSession, over lease: HeldLease) {
        let ticket = newTicket()
        phase = .saving(ticket, next, judging: nil)
        act(.save(ticket, next, over: lease.stored, keepingPrevious: hasStoredWorked))
    }

    private func importing(_ imported: ImportedSession) -> StoredSession? {
        var next = StoredSession.importing(
            imported.refreshToken, idToken: imported.idToken, scope: imported.scope, for: configured,
            of: imported.client, person: imported.person, over: lease?.stored ?? session, at: moment.wall)
        next?.generation = max(session.generation, lease?.stored?.generation ?? 0) + 1
        return next
    }

    /// The session with a login that waits; another client's session stays as it is until a login has replaced it.
    private func keeping(
        _ code: AuthorizationCode?, _ request: Secret?, over stored: StoredSession?
    ) -> StoredSession {
        let others = stored.flatMap { $0.binding == binding ? nil : $0 }
        var next = others ?? session
        next.generation = max(session.generation, stored?.generation ?? 0) + 1
        next.pendingCode = code
        next.pendingRequest = request
        next.pendingBinding = others == nil || (code == nil && request == nil) ? nil : binding
        return next
    }

    mutating func performed(_ ticket: Ticket, _ result: Result<CommandAnswer, TokenFailure>) {
        guard case .performing(ticket, let command) = phase,
            let index = commands.firstIndex(where: { !$0.command.endsSession })
        else { return }
        switch result {
        case .failure(let failure):
            act(.finish(commands.remove(at: index).id, .refused(failure)))
        case .success(.registered(let registration)):
            end(with: session.replaced(byClient: registration, of: configured))
            commands[index].result = .registered(registration)
        case .success(.revoked(let hints, let failure)):
            let result = failure.map(CommandResult.refused) ?? .revoked(hints)
            guard !hints.isEmpty, case .revoke(_, let ended) = command, ended?.origin == session.origin else {
                act(.finish(commands.remove(at: index).id, result))
                break
            }
            end(with: session.withoutTokens(forgettingRefreshToken: hints.contains(.refreshToken)))
            commands[index].result = result
        }
        workUnderLease()
    }

    // MARK: The end of a command

    /// What a command saved is stored: it is the session from here on.
    mutating func commandSaved() {
        if !commands.isEmpty { act(.finish(commands.removeFirst().id, .done)) }
    }

    /// Every command that counts in memory is stored.
    mutating func finishApplied() {
        let isDone = commands.map { $0.command.endsSession || $0.result != nil }
        for (queued, isDone) in zip(commands, isDone) where isDone { finish(queued, nil) }
        commands = zip(commands, isDone).filter { !$1 }.map(\.0)
    }

    /// The store takes nothing now: commands do not wait for it.
    ///
    /// What counts in memory is written later.
    mutating func finishAll(_ error: StoreError) {
        for queued in commands { finish(queued, error) }
        commands = []
    }

    /// Somebody else began a session later than our login or logout, which counts instead.
    mutating func outdo() {
        for queued in commands where queued.command.endsSession { act(.finish(queued.id, .outdone)) }
        commands.removeAll { $0.command.endsSession }
    }

    /// The session that a logout ends was renewed by another process: its newest tokens are the ones to be revoked.
    mutating func noteEnded(_ stored: StoredSession) {
        for index in commands.indices {
            guard let ended = commands[index].ended, ended.origin == stored.origin,
                ended.generation < stored.generation
            else { continue }
            commands[index].ended = stored
        }
    }

    mutating func finish(_ queued: QueuedCommand, _ error: StoreError?) {
        let result: CommandResult
        switch queued.command {
        case .login: result = error.map(CommandResult.unwritten) ?? .done
        case .logout: result = .loggedOut(queued.ended ?? session, error)
        case .importing, .keeping: result = error.map(CommandResult.failed) ?? .done
        case .register, .revoke:
            if let applied = queued.result {
                result = error.map(CommandResult.unwritten) ?? applied
            } else {
                result = error.map(CommandResult.failed) ?? .done
            }
        }
        act(.finish(queued.id, result))
    }
}
