// SPDX-License-Identifier: Apache-2.0

/// Where sessions outlive the process, shared by every process that opens the same store.
public protocol SessionStore: Sendable {
    /// What was last saved for `identity`, by whichever process.
    ///
    /// A damaged entry is the store's own affair: it is kept aside, reported, and reads as an older one or as nil.
    func load(_ identity: String) async throws(StoreError) -> StoredSession?

    /// Why what ``load(_:)`` found last is not where another process will look for it, though it can be read and written.
    func misplacement(of identity: String) async -> StoreError?

    /// Replaces what is stored for `session.identity`; returns once it would survive a power cut.
    ///
    /// One session before is kept, in case the newest is damaged: what is replaced if `keepsPrevious`, else what was
    /// kept so far, because nobody knows yet whether what is replaced ever worked.
    func save(_ session: StoredSession, keepingPrevious keepsPrevious: Bool) async throws(StoreError)

    /// Forgets `identity`; nothing stored is no error.
    func remove(_ identity: String) async throws(StoreError)

    /// Excludes every other process, and every other caller in this one, from `identity` until released.
    ///
    /// - Throws: ``StoreError/busy`` if another holder kept it for `limit`; ``StoreError/unavailable(_:)`` if the
    ///   store cannot lock at all.
    func lock(_ identity: String, waitingAtMost limit: Duration) async throws(StoreError) -> any StoreLock

    /// One element each time another process may have changed `identity`; ends with the store.
    func changes(of identity: String) -> AsyncStream<Void>
}

extension SessionStore {
    /// Nothing is ever in another place.
    public func misplacement(of identity: String) async -> StoreError? { nil }

    /// Replaces what is stored for `session.identity`, and keeps what was.
    public func save(_ session: StoredSession) async throws(StoreError) {
        try await save(session, keepingPrevious: true)
    }
}
