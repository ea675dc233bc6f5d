// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// Sessions that another program began.
extension AuthSession {
    /// Makes what another program obtained the session, which needs a refresh before it is used.
    ///
    /// - Parameters:
    ///   - refreshToken: what it begins with.
    ///   - idToken: who the person is, if the program knew.
    ///   - scope: what was granted, if it knew.
    ///   - clientID: the client that it obtained it as; nil for the one that logs in here. The session is that client's
    ///     until the next login: nobody else may use the refresh token (RFC 6749 §6).
    ///   - clientSecret: that other client's secret, if it has one.
    ///   - person: whose it is, if it knew.
    /// - Returns: false if nothing has changed, because the session began with this token or holds it.
    /// - Throws: ``StoreError``; nothing has changed then.
    @discardableResult
    public func take(
        _ refreshToken: Secret, idToken: Secret? = nil, scope: [String] = [], clientID: String? = nil,
        clientSecret: Secret? = nil, person: Person? = nil
    ) async throws(StoreError) -> Bool {
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
    /// Another client of the same server, in the place of this one for as long as this one is configured.
    ///
    /// - Returns: nil if it is this one.
    fileprivate func another(_ clientID: String, secret: Secret?) -> ClientRegistration? {
        guard clientID != self.clientID else { return nil }
        let method = authentication.needsSecret ? authentication : .basic
        return ClientRegistration(
            clientID: clientID, clientSecret: secret, authentication: secret == nil ? .none : method,
            replacedClientID: self.clientID)
    }
}
