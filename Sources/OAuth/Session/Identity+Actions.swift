// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The actions of an identity's engine on the store and the authorization server.
extension Identity {
    // MARK: The store

    /// How long the store may take for one thing: one of a program's own may never answer.
    static let storeLimit: Duration = .seconds(60)

    func read(_ ticket: Ticket) {
        var holder: (any StoreLease)?
        if case .reading = engine.phase { holder = lease }
        limit(ticket) { await $0.tell(.failure($1), of: ticket) }
        Task { [holder] in tell(await record(under: holder), of: ticket) }
    }

    func spend(_ session: StoredSession, _ ticket: Ticket) {
        guard let lease else { return take(.spent(ticket, .failure(.leaseLost))) }
        limit(ticket) { await $0.take(.spent(ticket, .failure($1))) }
        Task {
            defer { storeLimits.removeValue(forKey: ticket)?.cancel() }
            do throws(StoreError) {
                try await lease.spend(session)
                take(.marked(lease.markTrouble))
                take(.spent(ticket, .success(lease.mayBeSpent)))
            } catch {
                take(.spent(ticket, .failure(error)))
            }
        }
    }

    func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool,
        _ ticket: Ticket
    ) {
        guard let lease else { return take(.notSaved(ticket, .leaseLost, hasMoved: false)) }
        limit(ticket) { identity, _ in
            let error = StoreError.unavailable(
                "the store does not answer, and may still write what it was given")
            await identity.take(.notSaved(ticket, error, hasMoved: false))
        }
        Task { await save(session, over: read, keepingPrevious: keepsPrevious, under: lease, ticket) }
    }

    func lookForClaim(_ ticket: Ticket) {
        let lease = lease
        limit(ticket) { identity, _ in await identity.take(.claimed(ticket, nil)) }
        Task {
            defer { storeLimits.removeValue(forKey: ticket)?.cancel() }
            var isClaimed: Bool?
            do throws(StoreError) {
                isClaimed = try await lease?.isClaimed() ?? false
            } catch {
                // Nobody can be heard.
            }
            // Not every store can be told a claim.
            for namesake in family.namesakes(of: self) where isClaimed != true {
                if await namesake.isClaiming { isClaimed = true }
            }
            take(.claimed(ticket, isClaimed))
        }
    }

    private var lease: (any StoreLease)? { engine.lease.flatMap { leases[$0.ticket] } }

    /// Calls `fail` if the store does not answer in time; a later answer is ignored.
    private func limit(
        _ ticket: Ticket, plus more: Duration = .zero,
        _ fail: @escaping @Sendable (Identity, StoreError) async -> Void
    ) {
        let end = clock.now + Self.storeLimit + more
        storeLimits[ticket] = Task(executorPreference: executor as? any TaskExecutor) { [weak self, clock] in
            guard (try? await clock.sleep(until: end)) != nil, let self else { return }
            await fail(self, .unavailable("the store does not answer"))
        }
    }

    func lock(_ ticket: Ticket, isClaiming: Bool) {
        let earlier = releasing
        limit(ticket, plus: IdentityEngine.lockWait) { await $0.take(.leaseRefused(ticket, $1)) }
        locking = Task {
            defer { storeLimits.removeValue(forKey: ticket)?.cancel() }
            await earlier?.value
            if isClaiming { await claimLease() }
            do throws(StoreError) {
                leases[ticket] = try await store.lock(name, waitingAtMost: IdentityEngine.lockWait)
                take(.leased(ticket))
            } catch {
                take(.leaseRefused(ticket, error))
            }
        }
    }

    /// Claims the lease for as long as we wait for it.
    func claimLease() async {
        guard claim == nil, let new = await store.claim(name), claim == nil else { return }
        // It may come when nobody here wants the lease any more.
        if case .locking = engine.phase { claim = new }
    }

    func release(_ ticket: Ticket, leavingMark isLeft: Bool) {
        guard let lease = leases.removeValue(forKey: ticket) else { return }
        if isLeft { lease.leaveSpent() }
        let (earlier, session) = (releasing, firstSession)
        releasing = Task {
            await earlier?.value
            _ = await outcome { await lease.release() }
            withExtendedLifetime(session) {}
        }
    }

    private func record(under lease: (any StoreLease)?) async -> Result<StoreRecord, StoreError> {
        do throws(StoreError) {
            let session = try await store.load(name)
            let misplacement = await store.misplacement(of: name)
            var record = StoreRecord(
                session: session, settledAt: await store.settlement(of: name), misplacement: misplacement)
            if let session, let lease { record.isLeftSpent = await lease.wasLeftSpent(session) }
            return .success(record)
        } catch {
            return .failure(error)
        }
    }

    private func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool,
        under lease: any StoreLease, _ ticket: Ticket
    ) async {
        defer { storeLimits.removeValue(forKey: ticket)?.cancel() }
        do throws(StoreError) {
            try await lease.save(session, over: read, keepingPrevious: keepsPrevious)
            take(.saved(ticket))
            for namesake in family.namesakes(of: self) {
                Task { await namesake.take(.storeChanged(isWritable: false)) }
            }
        } catch {
            let hasMoved = await store.hasMoved(name)
            take(.notSaved(ticket, error, hasMoved: hasMoved))
            if isLeaving { await handOver() }
        }
    }

    // MARK: The provider

    /// The failure of a request whose session nobody has any more.
    private static let gone = TokenFailure(.transient, .cancelled, detail: "the session has ended")

    /// An answer whose tokens nobody can judge any more.
    static func unjudged(_ outcome: TokenRequestResult) -> TokenRequestResult {
        var outcome = outcome
        outcome.refreshToken = outcome.anyRefreshToken
        outcome.result = .failure(gone)
        return outcome
    }

    func ask(
        _ ticket: Ticket, _ target: TargetID, _ grant: Grant, _ additions: TokenAdditions, waitsLong: Bool
    ) {
        let (session, key) = (members[target]?.session, engine.session.proofKey)
        let lease = if case .refresh = grant { lease } else { (any StoreLease)?.none }
        requests[ticket] = Task {
            guard let session else {
                // Nothing was sent; the engine must not wait for it, nor keep the lease.
                requests[ticket] = nil
                let result = TokenRequestResult(
                    result: .failure(Self.gone), sentAt: clock.now, wall: clock.wallNow)
                return take(.answered(ticket, TokenRequestReport(outcome: result, wasSent: false)))
            }
            let answer = await session.requestToken(
                with: grant, adding: additions, proving: key, waitsLong: waitsLong, under: lease, ticket)
            requests[ticket] = nil
            take(.answered(ticket, answer))
            shareEncoding()
        }
    }

    /// Returns true if a request may be sent that has waited for metadata or a credential, or is sent anew because the
    /// authorization server wants another nonce or other credentials; from here on its answer is waited for.
    ///
    /// Whoever has the lease by now may have sent its refresh token. A request without one needs no lease.
    func maySend(_ ticket: Ticket) -> Bool {
        guard engine.wants(ticket) else { return false }
        if case .asking(let asking) = engine.phase, asking.refreshToken != nil, lease?.isHeld == false {
            return false
        }
        take(.requestBegan(ticket))
        return engine.wants(ticket)
    }

    func probe(_ ticket: Ticket, _ target: TargetID) {
        let session = members[target]?.session
        requests[ticket] = Task {
            let failure = if let session { await session.probe() } else { Self.gone }
            requests[ticket] = nil
            take(.probed(ticket, failure))
        }
    }

    func perform(_ ticket: Ticket, _ command: EngineCommand, for stored: StoredSession) {
        let session = firstSession
        requests[ticket] = Task {
            let result = await session?.perform(command, on: stored) ?? .failure(Self.gone)
            requests[ticket] = nil
            take(.performed(ticket, result))
        }
    }

    /// The session that stands for the identity as a whole.
    var firstSession: AuthSession? {
        for target in engine.order {
            if let session = members[target]?.session { return session }
        }
        return nil
    }

    /// Has the end of the identity wait for `task`.
    func leave(behind task: Task<Void, Never>) {
        let earlier = leftovers
        leftovers = Task {
            await earlier?.value
            await task.value
        }
    }
}
