// SPDX-License-Identifier: Apache-2.0

/// Other processes and restarts.
extension AuthState {
    /// The store holds `stored`: at the start, after a change by another process, or before a token request.
    ///
    /// What counts more than ours is adopted. A session of another server or client only moves our generation on.
    ///
    /// - Parameters:
    ///   - stored: what the store holds.
    ///   - now: the moment of looking.
    ///   - wall: the civil clock at `now`; turns the stored expiry into one of the clock that judges it.
    ///   - jitter: in 0..<1.
    /// - Returns: whether it was adopted.
    @discardableResult
    package mutating func found(
        _ stored: StoredSession, at now: Instant, wall: WallTime, jitter: Double
    ) -> Bool {
        guard isNewer(stored) else { return false }
        storeTroubles[.save] = nil
        follow(stored)
        guard stored.binding == binding else {
            session.generation = stored.generation
            isUnsaved = false  // whoever stored that wants ours no more
            holdsOthersSession = stored.refreshToken != nil
            if stored.pendingBinding == binding {
                session.pendingCode = stored.pendingCode
                session.pendingRequest = stored.pendingRequest
            }
            return false
        }
        if endsFailure(stored) {
            failure = nil
            doubts = 0
        }
        session = stored
        outranksStored = false
        if stored.pendingBinding ?? binding != binding {
            session.pendingCode = nil
            session.pendingRequest = nil
        }
        isUnsaved = false
        hasStoredWorked = false
        holdsOthersSession = false
        guard let token = stored[request] else {
            access = nil  // somebody wants it never to be used again
            return true
        }
        if let snapshot = access?.snapshot, snapshot.generation == token.generation,
            snapshot.token.matches(token.token)
        {
            return true
        }
        guard token.generation > invalidated else {
            session[request] = nil
            return true
        }
        guard !token.isBound || stored.proofKey != nil else {
            access = nil
            return true
        }
        knownLifetime = token.lifetime
        // A civil clock that was set back must not make the token live longer than it ever did.
        let remaining = min(token.expiresAt - wall, token.lifetime)
        use(
            AccessToken(
                token.token, boundTo: token.isBound ? stored.proofKey : nil, generation: token.generation,
                subject: stored.subject, end: now + remaining, lifetime: token.lifetime,
                margin: configuration.refreshMargin, jitter: jitter))
        return true
    }

    /// The session to write now, because an earlier attempt to write it failed or it changed without a request.
    ///
    /// - Parameter stored: what the store holds at this moment, under its lock.
    /// - Returns: ours, with a generation that is newer.
    package mutating func sessionToSave(over stored: StoredSession?) -> StoredSession {
        if let stored, stored.generation >= session.generation { session.generation = stored.generation + 1 }
        return session
    }

    /// `saved` has been written.
    package mutating func saved(_ saved: StoredSession) {
        storeTroubles[.lock] = nil
        hasStoredWorked = false
        guard saved.generation == session.generation else { return }
        isUnsaved = false
        isStoreBehind = false
        outranksStored = false
    }

    /// What somebody took away from the store could not be put back.
    mutating func couldNotSave() { isUnsaved = true }

    /// `session`, which another session of the identity could not write, has been adopted if it is newer than ours.
    ///
    /// - Returns: whether it is ours to write from here on, or needs not be written because ours is newer.
    mutating func takeOver(_ session: StoredSession, outrankingStored: Bool) -> Bool {
        let mine = self.session
        guard session.generation == mine.generation else { return session.generation < mine.generation }
        guard session.origin == mine.origin else { return false }
        isUnsaved = true
        outranksStored = outrankingStored
        return true
    }

    /// Whether `session` is to be written.
    var needsSaving: Bool { isUnsaved || isStoreBehind }

    /// Whether `session` has more than access tokens that the configuration alone brings again: a person's login or logout,
    /// a refresh token, a client that the server made for us.
    var isIrreplaceable: Bool {
        configuration.grantType.needsPerson || session.refreshToken != nil || session.registration != nil
    }

    /// Another session of the identity writes `session`.
    mutating func handedOver() {
        isUnsaved = false
        isStoreBehind = false
        outranksStored = false
    }

    /// The store holds `stored`, which ours is to replace if a person wants that.
    mutating func outrank(_ stored: StoredSession?) {
        if outranksStored, let stored { session.generation = max(session.generation, stored.generation) }
    }

    /// The store holds `stored`, and what is newer than ours has been adopted.
    mutating func compared(to stored: StoredSession?) {
        let isWorthKeeping = session.refreshToken != nil || !session.accessTokens.isEmpty
        isStoreBehind = isWorthKeeping && session.generation > stored?.generation ?? 0
        guard !needsSaving else { return }
        // Nobody needs what could not be done.
        storeTroubles[.save] = nil
        if attempt == nil { storeTroubles[.lock] = nil }
    }

    // MARK: What the store cannot do

    /// Whether nobody knows what the store holds.
    var isUnread: Bool { storeTroubles[.load] != nil }

    /// True if the store is the reason for a missing token, and not the provider.
    ///
    /// A lock that another process keeps is none: that process is asking the provider.
    var isStoreAway: Bool {
        if let failure {
            guard case .store(let error) = failure.failure.reason else { return false }
            return !error.isBusy
        }
        return [StoreOperation.load, .lock].contains { operation in
            storeTroubles[operation].map { !$0.error.isBusy } ?? false
        }
    }

    /// The store could not do something.
    mutating func storeFailed(_ operation: StoreOperation, _ error: StoreError, wall: WallTime) {
        storeTroubles[operation] = StoreTrouble(error: error, since: storeTroubles[operation]?.since ?? wall)
    }

    /// The store did what it was asked for.
    ///
    /// - Returns: whether it could not before.
    mutating func storeWorked(_ operation: StoreOperation) -> Bool {
        if operation == .load {
            isBeingRead = false
            if attempt == nil, failure?.failure.isAboutStore == true { failure = nil }
        }
        return storeTroubles.removeValue(forKey: operation) != nil
    }

    /// Why the store could not do what it was asked last.
    var lastStoreError: StoreError? { storeTrouble?.error }

    /// The trouble that people hear of.
    var storeTrouble: StoreTrouble? {
        storeTroubles[.load] ?? storeTroubles[.lock] ?? storeTroubles[.save] ?? storeTroubles[.place]
    }

    /// Whether asking again is worth while because of `stored`: somebody began anew, or was answered.
    ///
    /// What others are answered says nothing of a request of ours that is wrong in itself.
    private func endsFailure(_ stored: StoredSession) -> Bool {
        if stored.origin != session.origin || stored.refusal != session.refusal { return true }
        return failure?.failure.kind != .misconfigured && stored.lastRefresh != session.lastRefresh
    }

    private func isNewer(_ stored: StoredSession) -> Bool {
        outranksStored ? stored.begins(after: session) : stored.supersedes(session)
    }
}
