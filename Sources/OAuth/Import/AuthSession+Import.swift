// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// Importing sessions of other programs.
extension AuthSession {
    /// Begins a session with another program's refresh token; it needs a refresh before it is used.
    ///
    /// - Parameters:
    ///   - refreshToken: the other program's.
    ///   - idToken: the one that came with it, if it is known.
    ///   - scope: the granted scope; empty if it is not known.
    ///   - clientID: the client that the token was issued to, which alone may use it (RFC 6749 §6); nil for the client that
    ///     logs in here. The session is that client's until the next login.
    ///   - clientSecret: that client's secret; nil if it has none.
    ///   - person: whose session it is, if that is known.
    /// - Returns: false, with nothing changed, if the session began with this token or holds it.
    /// - Throws: ``StoreError``, for an empty token too; nothing has changed then.
    @discardableResult
    public func take(
        _ refreshToken: Secret, idToken: Secret? = nil, scope: [String] = [], clientID: String? = nil,
        clientSecret: Secret? = nil, person: Person? = nil
    ) async throws(StoreError) -> Bool {
        guard !refreshToken.isEmpty else { throw .refused("the refresh token to begin with is empty") }
        let hasChanged = try await withLockForPerson { lock throws(StoreError) in
            let held = HeldSession(lease: try lock.lease, stored: try await store.load(identity))
            let present = family.newest(held.stored)
            let client = state.configured.registered(present?.registration)
            guard
                var session = StoredSession.importing(
                    refreshToken, idToken: idToken, scope: scope, for: state.configured,
                    of: clientID.flatMap { client.another($0, secret: clientSecret) }, person: person,
                    over: present, at: clock.wallNow)
            else { return false }
            session.generation = max(session.generation, (held.stored?.generation ?? 0) + 1)
            try await held.save(session)
            family.saved(session, isWritten: true)
            return true
        }
        guard hasChanged else { return false }
        for sibling in family.siblings(of: self) { Task { await sibling.storeChanged() } }
        guard isStarted else { return true }
        await storeChanged()
        return true
    }
}

extension ClientConfiguration {
    /// A registration of another client of the same server; nil if it is this one.
    fileprivate func another(_ clientID: String, secret: Secret?) -> ClientRegistration? {
        guard clientID != self.clientID else { return nil }
        let method = authentication.needsSecret ? authentication : .basic
        return ClientRegistration(
            clientID: clientID, clientSecret: secret, authentication: secret == nil ? .none : method,
            replacedClientID: self.clientID)
    }
}
