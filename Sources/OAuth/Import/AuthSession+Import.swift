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
    /// - Returns: false if nothing has changed, because the session began with this token or holds it.
    /// - Throws: ``StoreError``; nothing has changed then.
    @discardableResult
    public func take(
        _ refreshToken: Secret, idToken: Secret? = nil, scope: [String] = []
    ) async throws(StoreError) -> Bool {
        let hasChanged = try await withLockForPerson { lock throws(StoreError) in
            let held = HeldSession(lease: try lock.lease, stored: try await store.load(identity))
            guard
                var session = StoredSession.importing(
                    refreshToken, idToken: idToken, scope: scope, for: state.configured,
                    over: family.newest(held.stored), at: clock.wallNow)
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
