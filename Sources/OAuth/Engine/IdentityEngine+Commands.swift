// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSONText

extension EngineCommand {
    /// True if a person waits for it, who may claim the lease in other processes.
    var isPersons: Bool { if case .write = self { false } else { true } }
}

/// Commands of people on the session.
extension IdentityEngine {
    mutating func commanded(_ id: CommandID, _ command: EngineCommand) {
        var queued = QueuedCommand(id: id, command: command)
        switch command {
        case .login(let grant, let target, let sentAt, let wall) where isOutdone(sentAt, wall):
            // Nothing of the session that counts may end for it.
            return outdo(queued, grant, target)
        case .login:
            giveUpRevocation()
            forgetOrphans()
            orphanRequest(revokingAnswer: false)
        case .logout(let isLocal):
            giveUpRevocation()
            outdoImports()
            queued.ended = session
            queued.isApplied = true
            loggedOutAt = now
            orphanRequest(revokingAnswer: !isLocal)
            var ended = session.loggedOut(binding: binding, at: moment.wall)
            ended.isEndOnlyHere = isLocal
            end(with: ended)
            outranksStored = true
        case .write:
            writeMoment = now
        case .importing: giveUpRevocation()
        case .keeping, .register, .revoke: break
        }
        commands.append(queued)
        if case .locking(let ticket, _) = phase, command.isPersons {
            phase = .locking(ticket, refusals: 0)
        }
        if case .holding = phase { workUnderLease() }
    }

    /// The command of which the authorization server does its part.
    var performedCommand: Int? { commands.firstIndex { !$0.isApplied && $0.command.isPerformed } }

    /// Runs a command before the silent refresh, which is resumed if the session stays the same.
    mutating func makeRoomForCommand() {
        guard case .asking(let asking) = phase, asking.rule != nil, asking.meanwhile == nil, !commands.isEmpty
        else { return }
        setAdrift(asking)
        phase = .holding
        workUnderLease()
    }

    /// Detaches the token request under way, so that the command can use its lease at once.
    ///
    /// The request is not cancelled after a logout: only its answer says which refresh token the authorization server has
    /// made, and that is revoked, or the session would live on at the authorization server. After a login it is forgotten, and
    /// so is one that a logout before it has left, because there are providers that end the new session with the old one's
    /// token: they tie both to one person, or to one session of the browser.
    private mutating func orphanRequest(revokingAnswer isRevoked: Bool) {
        orphanAdrift(revokingAnswer: isRevoked)
        let asking: Asking
        switch phase {
        case .asking(var present):
            takeBack(&present)
            if isRevoked { revokeAnswers(to: present) }
            for ticket in present.requests where !isRevoked { act(.hangUp(ticket)) }
            asking = present
            guard present.meanwhile == nil else {
                // The write under way must end before the lease can go to the command.
                (present.requests, present.deferred, present.isClaimed) = ([], [], true)
                return phase = .asking(present)
            }
            if let probe = asking.probe { act(.hangUp(probe)) }
        case .judging(_, let present, let outcome):
            asking = present
            if isRevoked { revoke(outcome, of: asking.client) }
        case .idle, .settling, .locking, .reading, .spending, .saving, .holding, .performing, .stopped:
            return
        }
        lease?.leavesMark = asking.rule?.isOpen ?? false
        restartAttempt(of: asking.target)
        // The caller queues the command, and then goes on under the lease.
        phase = lease == nil ? .idle : .holding
    }

    private mutating func logIn(
        _ grant: TokenResponse, _ id: TargetID, sentAt: Instant, wall: WallTime
    ) {
        // A clock that ran ahead elsewhere must not make what a person replaces count for more than this.
        let begin = othersSession?.began.map { max(wall, $0 + .milliseconds(1)) } ?? wall
        sessionBefore = session
        let fresh = session.beginning(configured, with: grant, at: begin)
        follow(fresh)
        for other in order { targets[other]?.isEnding = true }
        guard var state = targets[id] else { return }
        let lifetime =
            grant.lifetime ?? state.knownLifetime
            ?? min(configured.defaultLifetime, ClientConfiguration.longestLifetime)
        if lifetime > .zero { state.knownLifetime = grant.lifetime ?? state.knownLifetime }
        let (next, token) = fresh.renewed(
            by: grant, lasting: lifetime, for: state.client, request: state.request, sentAt: sentAt,
            wall: wall, jitter: moment.jitter)
        state.isEnding = false
        state.pending = token
        state.isAskedFor = false
        targets[id] = state
        session = next
        ownToken = next.refreshToken
        isUnwritten = true
        isStoreBehind = false
        outranksStored = true
        writeMoment = now
        replacedTokens = []
        othersSession = nil
        providerTrouble = nil
    }

    /// Another session takes the place of ours at once, and none of our tokens is used any more.
    mutating func end(with next: StoredSession) {
        let generation = session.generation
        for id in order { targets[id]?.forget(upTo: generation) }
        session = next
        follow(next)
        isUnwritten = true
        isStoreBehind = false
        writeMoment = now
        replacedTokens = []
        hasStoredWorked = false
    }

    // MARK: Under the lease

    /// Does what the first command still needs, now that the store was read.
    ///
    /// - Returns: false if there is nothing to do.
    mutating func performNext() -> Bool {
        while let queued = commands.first, let lease {
            if queued.result != nil, !needsWriting {
                finish(commands.removeFirst(), nil)
                continue
            }
            switch queued.command {
            case .login(let grant, let id, let sentAt, let wall):
                if !queued.isApplied, isOutdone(sentAt, wall) {
                    outdo(commands.removeFirst(), grant, id)
                    continue
                }
                if !queued.isApplied {
                    commands[0].isApplied = true
                    logIn(grant, id, sentAt: sentAt, wall: wall)
                    save()
                    return true
                }
                finish(commands.removeFirst(), nil)
            case .logout, .write:
                finish(commands.removeFirst(), othersWords.map(StoreError.refused))
            case .importing(let imported):
                let present = needsWriting ? session : lease.stored
                if let present, present.isEndangered(by: imported.refreshToken) {
                    commands.removeFirst()
                    act(.finish(queued.id, .failed(.spentImport)))
                    continue
                }
                guard let next = importing(imported, over: lease.stored) else {
                    commands.removeFirst()
                    act(.finish(queued.id, .unchanged))
                    continue
                }
                save(next, over: lease)
                return true
            case .keeping(let change):
                save(keeping(change, over: lease.stored), over: lease)
                return true
            case .register:
                perform(queued.command)
                return true
            case .revoke(let hints):
                let hasAny =
                    hints.contains(.refreshToken) && session.refreshToken != nil
                    || hints.contains(.accessToken) && !session.accessTokens.isEmpty
                guard hasAny else {
                    commands.removeFirst()
                    act(.finish(queued.id, .revoked([])))
                    continue
                }
                perform(queued.command)
                return true
            }
        }
        return false
    }

    private mutating func perform(_ command: EngineCommand) {
        let ticket = newTicket()
        phase = .performing(ticket, command)
        act(.perform(ticket, command, for: session))
    }

    private mutating func save(_ next: StoredSession, over lease: HeldLease) {
        let ticket = newTicket()
        phase = .saving(ticket, next, .command)
        act(.save(ticket, next, over: lease.stored, keepingPrevious: true))
    }

    private func importing(_ imported: SessionImport, over stored: StoredSession?) -> StoredSession? {
        let present = needsWriting ? session : stored
        let client = configured.registered(
            present.flatMap { $0.belongs(to: configured) ? $0.registration : nil })
        var next = StoredSession.importing(
            imported.refreshToken, idToken: imported.idToken, scope: imported.scope, for: configured,
            of: imported.clientID.flatMap { client.another($0, secret: imported.clientSecret) },
            person: imported.person, over: present, at: moment.wall)
        next?.generation = max(session.generation, stored?.generation ?? 0) + 1
        return next
    }

    /// The session with a login that waits; another client's session stays as it is until a login has replaced it.
    private func keeping(
        _ change: (PendingLogin) -> PendingLogin, over stored: StoredSession?
    ) -> StoredSession {
        let others = stored.flatMap { $0.binding.hasSameBytes(as: binding) ? nil : $0 }
        let generation = max(session.generation, stored?.generation ?? 0)
        let pending = change(
            PendingLogin(
                code: session.pendingCode, request: session.pendingRequest, generation: generation))
        var next = others ?? session
        next.generation = generation + 1
        next.pendingCode = pending.code
        next.pendingRequest = pending.request
        let isEmpty = pending.code == nil && pending.request == nil
        next.pendingBinding = others == nil || isEmpty ? nil : binding
        return next
    }

    mutating func performed(_ ticket: Ticket, _ result: Result<CommandResponse, TokenFailure>) {
        guard case .performing(ticket, let command) = phase, let index = performedCommand else { return }
        switch result {
        case .failure(let failure):
            act(.finish(commands.remove(at: index).id, .refused(failure)))
        case .success(.registered(let registration)):
            commands[index].result = .registered(registration)
            guard let lease else {
                failFirstCommand(.leaseLost)
                break
            }
            // Like a login, it is a person's word that the new client is to take the place of the one before, another one's too.
            var next = session.replaced(byClient: registration, of: configured)
            next.generation = max(next.generation, (lease.stored?.generation ?? 0) + 1)
            return save(next, over: lease)
        case .success(.revoked(let hints, let failure)):
            let result = failure.map(CommandResult.refused) ?? .revoked(hints)
            guard !hints.isEmpty, case .revoke = command else {
                act(.finish(commands.remove(at: index).id, result))
                break
            }
            if hints.contains(.refreshToken) {
                orphanAdrift(revokingAnswer: true)
                // What the store holds until the end is written must not be sent again.
                outranksStored = true
            }
            end(with: session.withoutTokens(forgettingRefreshToken: hints.contains(.refreshToken)))
            commands[index].isApplied = true
            commands[index].result = result
        }
        workUnderLease()
    }

    // MARK: The end of a command

    /// The first command's session is stored: it is the session from here on.
    mutating func commandSaved(_ written: StoredSession) {
        let isRegistered = if case .register? = commands.first?.command { true } else { false }
        if isRegistered { orphanAdrift(revokingAnswer: true) }
        if isRegistered, commands.contains(where: { $0.ended != nil }) {
            keepClient(of: written)
        } else if written.binding.hasSameBytes(as: binding), written.origin == session.origin,
            written.generation > session.generation
        {
            session = written
            isUnwritten = false
            isStoreBehind = false
        } else if written.generation > session.generation {
            outranksStored = false
            adopt(written)
        }
        if !commands.isEmpty { finish(commands.removeFirst(), nil) }
        usePending()
        workUnderLease()
    }

    /// A logout has come since a client was asked for, and ends the session of that one.
    private mutating func keepClient(of written: StoredSession) {
        follow(written)
        var ended = written.loggedOut(binding: binding, at: moment.wall)
        (ended.began, ended.isEndOnlyHere) = (session.began, session.isEndOnlyHere)
        ended.generation = max(ended.generation, session.generation)
        session = ended
    }

    /// The first command could not be stored; nothing has changed in memory.
    mutating func failFirstCommand(_ error: StoreError) {
        if !commands.isEmpty { finish(commands.removeFirst(), error) }
        if error == .leaseLost { releaseLease() }
    }

    /// Every command that counts in memory is stored.
    mutating func finishApplied() {
        let done = commands.filter(\.isApplied)
        commands.removeAll(where: \.isApplied)
        for queued in done { finish(queued, nil) }
    }

    /// The store takes nothing now: commands do not wait for it.
    ///
    /// A session that counts in memory is written later.
    mutating func failCommands(_ error: StoreError) {
        let failed = commands
        commands = []
        for queued in failed {
            if case .login(let grant, let id, let sentAt, let wall) = queued.command, !queued.isApplied {
                if isOutdone(sentAt, wall) {
                    outdo(queued, grant, id)
                    continue
                }
                logIn(grant, id, sentAt: sentAt, wall: wall)
                writeMoment = now + Self.pauseAfterTrouble
                usePending()
            }
            finish(queued, error)
        }
    }

    mutating func finish(_ queued: QueuedCommand, _ error: StoreError?) {
        let result: CommandResult
        switch queued.command {
        case .login, .write: result = error.map(CommandResult.unwritten) ?? .done
        case .logout: result = .loggedOut(queued.ended ?? session, error)
        case .importing, .keeping: result = error.map(CommandResult.failed) ?? .done
        case .register, .revoke:
            let failed = queued.isApplied ? CommandResult.unwritten : CommandResult.failed
            result = error.map(failed) ?? queued.result ?? .done
        }
        act(.finish(queued.id, result))
    }
}

extension EngineCommand {
    /// True if the authorization server has a part in it.
    fileprivate var isPerformed: Bool {
        switch self {
        case .register, .revoke: true
        case .login, .logout, .importing, .keeping, .write: false
        }
    }
}

extension ClientConfiguration {
    /// A registration of another client of the same server; nil if it is this one.
    fileprivate func another(_ clientID: String, secret: Secret?) -> ClientRegistration? {
        guard !clientID.hasSameBytes(as: self.clientID) else { return nil }
        let method = authentication.needsSecret ? authentication : .basic
        return ClientRegistration(
            clientID: clientID, clientSecret: secret, authentication: secret == nil ? .none : method,
            replacedClientID: self.clientID)
    }
}
