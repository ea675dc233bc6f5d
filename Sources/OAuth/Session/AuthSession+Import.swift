// SPDX-License-Identifier: Apache-2.0

public import Crypto

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
        let lock = try await lock()
        let session: StoredSession?
        do throws(StoreError) {
            session = StoredSession.importing(
                refreshToken, idToken: idToken, scope: scope, for: state.configured,
                over: family.newest(try await store.load(identity)), at: clock.wallNow)
            if let session {
                try await store.save(session)
                family.saved(session, isWritten: true)
            }
        } catch {
            await lock.release()
            throw error
        }
        await lock.release()
        guard session != nil else { return false }
        for sibling in family.siblings(of: self) { Task { await sibling.storeChanged() } }
        guard isStarted else { return true }
        await storeChanged()
        return true
    }
}
