// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSONText

/// Which of two sessions is newer, and what becomes of the other one.
extension IdentityEngine {
    private static let replacedTokensKept = 8
    /// Longer than it takes every process to look at the store.
    private static let returnWait: Duration = .seconds(2)

    /// Takes over what is stored if that is newer, else has ours written in its place.
    mutating func compare(with stored: StoredSession?) {
        if let stored {
            keepPending(of: stored)
            if isOthers(stored) {
                meet(stored)
            } else if outranksStored {
                noteEnded(stored)
                session.generation = max(session.generation, stored.generation)
                if stored.begins(after: session) {
                    outdo()
                    adopt(stored)
                }
            } else if isNewer(stored) {
                adopt(stored)
            }
            noteKnown(stored)
        } else {
            hasStoredTokens = false
        }
        if stored.map({ !isOthers($0) }) ?? true { othersSession = nil }
        let wasBehind = isStoreBehind
        isStoreBehind = !isUnwritten && hasLostOurs(stored)
        if isStoreBehind, !wasBehind { writeMoment = min(writeMoment, now) }
        guard !needsWriting else { return }
        // Nobody needs what could not be done.
        storeTroubles[.save] = nil
        if queue.isEmpty { storeTroubles[.lock] = nil }
    }

    /// True if the store holds less than we know: it was emptied, or has gone back to an older copy.
    private func hasLostOurs(_ stored: StoredSession?) -> Bool {
        let hasTokens = session.refreshToken != nil || !session.accessTokens.isEmpty
        // What a logout or a revocation has left counts too, or an older session would come to life again.
        guard hasTokens || session.began != nil else { return false }
        guard let stored else { return true }
        if session.begins(after: stored) { return true }
        guard hasTokens || stored.origin == session.origin && !isOthers(stored) else { return false }
        return session.generation > stored.generation
    }

    /// True if what is stored takes the place of ours.
    ///
    /// Facts come first: the generation tells only how often a session was changed.
    private func isNewer(_ stored: StoredSession) -> Bool {
        let isSameSession = stored.origin == session.origin
        if isSameSession, isReplaced(stored.refreshToken) { return false }
        // A person began it after ours. In a store that was emptied they found nothing to count on from.
        if stored.begins(after: session) { return true }
        // It has gone back to what ours took the place of, however often that was renewed since.
        if session.begins(after: stored) { return false }
        // The store has held more than that: it has gone back.
        if stored.generation < knownGeneration { return false }
        // Somebody has logged out or revoked since: what we were given meanwhile does not count.
        if configured.grantType.needsPerson, stored.refreshToken == nil, session.refreshToken != nil,
            stored.generation > knownGeneration
        {
            return true
        }
        if stored.supersedes(session) { return true }
        // Both have counted on from the same session: the stored one is what all others go by.
        return isSameSession && isUnwritten && stored.refreshToken != nil
            && !(stored.refreshToken?.matches(session.refreshToken) ?? true)
    }

    /// Revokes the refresh token of a session that one identity alone has, where `ended` is what somebody has made of it
    /// elsewhere: a logout, or what is left after a revocation.
    mutating func revoke(
        _ own: Secret?, of session: StoredSession, _ client: Asking.Client?, endedBy ended: StoredSession
    ) {
        guard configured.grantType.needsPerson, ended.isEndedEverywhere, let client,
            let token = session.refreshToken, token.matches(own),
            // The answer to a request that was left is revoked as such.
            adrift?.answers.contains(where: { token.matches($0.outcome.anyRefreshToken) }) != true
        else { return }
        act(.revoke(token, .refreshToken, of: client))
    }

    /// True if ours has taken the place of `token`.
    func isReplaced(_ token: Secret?) -> Bool { replacedTokens.contains { $0.matches(token) } }

    /// Takes note that another refresh token takes the place of `token`.
    ///
    /// The store's is not forgotten, however often ours is replaced while the store takes nothing.
    mutating func replace(_ token: Secret) {
        if token.matches(lease?.stored?.refreshToken) { lease?.isStoredSpent = true }
        replacedTokens.append(token)
        guard replacedTokens.count > Self.replacedTokensKept else { return }
        replacedTokens.remove(at: replacedTokens.first?.matches(knownToken) == true ? 1 : 0)
    }

    /// Until when a refresh token may not be the newest, though nobody has stored another: whoever has a newer one than a store
    /// that was emptied, or went back to an older copy, writes it as soon as it looks.
    mutating func settlement(after record: StoreRecord) -> Instant? {
        let isBack = record.session?.generation ?? 0 < seenGeneration
        if isBack, !hasReturned { returnEnd = now + Self.returnWait }
        hasReturned = isBack
        return [record.settledAt, returnEnd].compactMap(\.self).max()
    }

    /// Takes note that the store holds `stored`.
    mutating func noteKnown(_ stored: StoredSession) {
        knownGeneration = max(knownGeneration, stored.generation)
        seenGeneration = max(seenGeneration, stored.generation)
        knownToken = stored.refreshToken
        hasStoredTokens = stored.holdsTokens
        if ownToken?.matches(stored.refreshToken) == true { ownToken = nil }
    }

    /// Keeps a login that waits in the store, which is no part of what two sessions are compared for.
    private mutating func keepPending(of stored: StoredSession) {
        guard stored.binding.hasSameBytes(as: binding), stored.generation >= session.generation else {
            return
        }
        session.pendingCode = stored.pendingCode
        session.pendingRequest = stored.pendingRequest
        session.pendingBinding = stored.pendingBinding
    }

    /// Makes `stored` the session.
    mutating func adopt(_ stored: StoredSession) {
        let isFirst = session.generation == 0
        guard !isOthers(stored) else { return noteOthersSession(stored) }
        let client = order.first.map(requestingClient)
        follow(stored)
        revoke(ownToken, of: session, client, endedBy: stored)
        if stored.origin != session.origin, stored.holdsTokens { forgetOrphans() }
        let isNews =
            stored.origin != session.origin || stored.refusal != session.refusal
            || stored.refreshToken == nil && session.refreshToken != nil
        let isRenewed = stored.lastRefresh != session.lastRefresh
        noteLogout(stored)
        if isNews || isRenewed { providerTrouble = nil }
        var stored = stored
        if isFirst { stored.expireTokens(ofUnknownAge: moment.wall) }
        let generation = stored.generation
        for id in order {
            // What others are answered says nothing of a request of ours that is wrong in itself.
            let isMisconfigured = targets[id]?.failure?.cause.kind == .misconfigured
            if isNews || isRenewed && !isMisconfigured {
                targets[id]?.failure = nil
                targets[id]?.doubtfulAnswers = 0
            }
            let moment = moment
            targets[id]?.adopt(&stored, at: moment)
        }
        if !binding.hasSameBytes(as: stored.pendingBinding ?? binding) {
            stored.pendingCode = nil
            stored.pendingRequest = nil
        }
        if session.isDoubted, session.doubtedToken == stored.refreshToken?.digest {
            stored.doubtedToken = session.doubtedToken
        }
        if stored.origin != session.origin {
            replacedTokens = []
        } else if stored.refusal == nil, let token = session.refreshToken, !token.matches(stored.refreshToken)
        {
            // One that was refused may be older than ours, and put back.
            replace(token)
        }
        // One that began later has a lower generation: ours must not go back, or a token could not be told from an older one.
        isUnwritten = generation < session.generation
        if isUnwritten {
            stored.generation = session.generation + 1
            writeMoment = now
        }
        isStoreBehind = false
        knownGeneration = max(knownGeneration, generation)
        session = stored
        outranksStored = false
        hasStoredWorked = false
        othersSession = nil
        storeTroubles[.save] = nil
        if isFirst, let first = order.first.flatMap({ targets[$0] }), !first.isLeaving,
            let change = scopeChange(for: first)
        {
            report(.scopeChanged(from: change.asked, to: change.configured))
        }
        report(.adopted(generation: session.generation))
    }

    // MARK: Another client's session

    /// True if `stored` belongs to another server or client than the configured one.
    private func isOthers(_ stored: StoredSession) -> Bool { !stored.belongs(to: configured) }

    /// Takes in that another client's session is stored: only a person replaces it, by beginning one of ours later.
    private mutating func meet(_ others: StoredSession) {
        let isKept = others.isIrreplaceable(at: moment.wall)
        if outranksStored {
            let isLogin = session.holdsTokens
            if isLogin ? !others.hasBegun(after: session) : !isKept {
                session.generation = max(session.generation, others.generation)
                othersSession = nil
                return
            }
            outranksStored = false
            // A logout was to end our own session alone: it has an answer of its own.
            if isLogin { outdo(endsWrites: !isKept) }
            if isLogin, !isKept, others.isEndedEverywhere { return endOutdone(by: others) }
        }
        if hasYielded(others) {
            // Writing ours counts on from what is stored.
            if session.generation <= others.generation, !isUnwritten {
                isUnwritten = true
                writeMoment = min(writeMoment, now)
            }
            return
        }
        if isKept || isNewer(others) { noteOthersSession(others) } else { othersSession = nil }
    }

    /// Ends our login, later than which somebody has ended another client's session: nobody else has its tokens.
    private mutating func endOutdone(by others: StoredSession) {
        revoke(ownToken, of: session, order.first.map(requestingClient), endedBy: others)
        end(with: session.withoutTokens(forgettingRefreshToken: true))
        session.generation = max(session.generation, others.generation)
        isUnwritten = false
        othersSession = nil
        storeTroubles[.save] = nil
    }

    /// True if ours has taken the place of `others`, which the store has gone back to, or holds still: ours is written there.
    private func hasYielded(_ others: StoredSession) -> Bool {
        guard othersSession == nil else { return false }
        // What the configuration alone brings again takes no person's place.
        guard session.holdsTokens, session.isIrreplaceable(at: moment.wall), !others.hasBegun(after: session)
        else { return false }
        return others.generation < knownGeneration || session.hasBegun(after: others)
    }

    private mutating func noteOthersSession(_ stored: StoredSession) {
        let knewOthers = othersSession != nil
        session.generation = max(session.generation, stored.generation)
        // Another client's session was stored in place of ours on purpose, so ours is not written again.
        isUnwritten = false
        othersSession =
            stored.isIrreplaceable(at: moment.wall)
            ? OthersSession(binding: stored.binding, origin: stored.origin, began: stored.began) : nil
        storeTroubles[.save] = nil
        if binding.hasSameBytes(as: stored.pendingBinding) {
            session.pendingCode = stored.pendingCode
            session.pendingRequest = stored.pendingRequest
        }
        if let othersWords, !knewOthers { report(.othersSessionFound(othersWords)) }
    }

    /// The clients of the stored session and of ours, and what ends that; nil if it may be replaced.
    var othersWords: String? {
        guard let others = othersSession else { return nil }
        let way =
            configured.grantType.needsPerson
            ? "logs in by this configuration, or logs out by that one"
            : "logs out by that configuration, or removes it from the store"
        return """
            the stored session belongs to another \(configured.name(of: .clientID)) or issuer ('\(others.binding)', and here it is \
            '\(binding)'), and is kept until somebody \(way)
            """
    }

    // MARK: The client

    /// Has requests made by the client that `stored` belongs to.
    mutating func follow(_ stored: StoredSession) {
        func following(_ client: ClientConfiguration) -> ClientConfiguration {
            client.registered(stored.registration).registered(stored.grantClient)
        }
        binding = following(configured).binding
        for id in order {
            if let configured = targets[id]?.configured { targets[id]?.client = following(configured) }
        }
        act(.followClients)
    }

    /// The client that asks in the name of `client`.
    func following(_ client: ClientConfiguration) -> ClientConfiguration {
        client.registered(session.registration).registered(session.grantClient)
    }

    /// The client that asks for a target's tokens.
    func client(of id: TargetID) -> ClientConfiguration { targets[id]?.client ?? following(configured) }

    /// That client with its secret, for what is asked in its name when there may be another one.
    func requestingClient(of id: TargetID) -> Asking.Client {
        Asking.Client(configuration: client(of: id), secret: presentedSecret)
    }

    /// The client that logs in: the registered one, else the configured one.
    var ownClient: ClientConfiguration { configured.registered(session.registration) }

    /// The registration in use; nil for the configured client.
    var registration: ClientRegistration? {
        ownClient.clientID.hasSameBytes(as: configured.clientID) ? nil : session.registration
    }

    /// The secret of the client that the session belongs to, if it is not the configured one.
    var presentedSecret: Secret? {
        following(configured).clientID.hasSameBytes(as: ownClient.clientID)
            ? registration?.clientSecret : session.grantClient?.clientSecret
    }
}
