// SPDX-License-Identifier: Apache-2.0

/// What is stored of an identity, read by who has the lease, and therefore what may be replaced.
final class HeldSession {
    let lease: any StoreLease
    /// Nil if there is nothing.
    private(set) var stored: StoredSession?

    init(lease: any StoreLease, stored: StoredSession?) {
        self.lease = lease
        self.stored = stored
    }

    /// Stores `session` in its place.
    func save(
        _ session: StoredSession, keepingPrevious keepsPrevious: Bool = true,
        isolation: isolated (any Actor)? = #isolation
    ) async throws(StoreError) {
        try await lease.save(session, over: stored, keepingPrevious: keepsPrevious)
        stored = session
    }
}
