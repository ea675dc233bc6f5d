// SPDX-License-Identifier: Apache-2.0

import OAuth

extension SessionStore {
    /// Takes the lock of the identity that tests have, for the test to release.
    func lock(waitingAtMost limit: Duration = .zero) async throws(StoreError) -> any StoreLease {
        try await lock("default", waitingAtMost: limit)
    }

    /// Takes the lock, does something and releases it.
    @discardableResult
    func withLock<Answer: Sendable>(
        _ identity: String = "default", waitingAtMost limit: Duration = .seconds(20),
        doing body: (any StoreLease) async -> Answer = { _ in }
    ) async throws(StoreError) -> Answer {
        try await withLock(identity, waitingAtMost: limit, isolation: nil, body)
    }

    /// Replaces what there is by what `change` makes of it.
    func update(
        _ identity: String = "default", keepingPrevious keepsPrevious: Bool = true,
        _ change: (StoredSession?) -> StoredSession
    ) async throws(StoreError) {
        let result = try await withLock(identity) { lease -> Result<Void, StoreError> in
            do throws(StoreError) {
                let read = try await load(identity)
                return .success(
                    try await lease.save(change(read), over: read, keepingPrevious: keepsPrevious))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    /// Replaces what there is by `session`.
    func save(_ session: StoredSession, keepingPrevious keepsPrevious: Bool = true) async throws(StoreError) {
        try await update(session.identity, keepingPrevious: keepsPrevious) { _ in session }
    }
}
