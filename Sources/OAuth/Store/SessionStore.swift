// SPDX-License-Identifier: Apache-2.0

/// Where sessions outlive the process, shared by every process that opens the same store.
public protocol SessionStore: Sendable {
    /// The session that was last saved for `identity`, by whichever process.
    ///
    /// A damaged entry is the store's own affair: it is kept aside, reported, and reads as an older one or as nil.
    func load(_ identity: String) async throws(StoreError) -> StoredSession?

    /// Why what ``load(_:)`` found last is not where another process will look for it, though it can be read and written.
    func misplacement(of identity: String) async -> StoreError?

    /// True if `identity` is to be looked for in another place from now on, which the store follows while nobody has the
    /// lock.
    func hasMoved(_ identity: String) async -> Bool

    /// Until when somebody may have a newer session of `identity` that could not be stored: the store was away, and its
    /// users come back to it one after the other.
    ///
    /// - Returns: nil where that cannot be.
    func settlement(of identity: String) async -> Instant?

    /// Keeps every other process, and every other caller in this one, from changing `identity`.
    ///
    /// That ends with ``StoreLease/release()``, and with the death of the process.
    ///
    /// - Parameters:
    ///   - identity: its name in the configuration.
    ///   - limit: how long another holder is waited for; a cancelled caller waits no longer.
    /// - Returns: the right to write, for the caller to release.
    /// - Throws: `StoreError.busy` if another holder kept it for `limit`; ``StoreError/unavailable(_:)`` if the
    ///   store cannot lock at all.
    func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease

    /// Tells whoever has the lock, and only waits for the authorization server, that a person wants it, or somebody who has
    /// the newest refresh token: see ``StoreLease/isClaimed()``.
    ///
    /// - Returns: what claims it for as long as somebody has it; nil where nobody can be told, or somebody tells it already.
    func claim(_ identity: String) async -> (any Sendable)?

    /// One element each time another process may have changed `identity`; ends with the store.
    func changes(of identity: String) -> AsyncStream<Void>
}

extension SessionStore {
    /// Runs `body` with a lease on `identity`, which is released when it returns.
    ///
    /// - Parameters:
    ///   - identity: its name in the configuration.
    ///   - limit: as for ``lock(_:waitingAtMost:)``.
    ///   - isolation: the caller's actor, on which `body` runs.
    ///   - body: is given the lease.
    /// - Returns: what `body` returns.
    /// - Throws: as ``lock(_:waitingAtMost:)`` does; `body` has not run then.
    public func withLock<Answer: Sendable>(
        _ identity: String, waitingAtMost limit: Duration, isolation: isolated (any Actor)? = #isolation,
        _ body: (any StoreLease) async -> Answer
    ) async throws(StoreError) -> Answer {
        let lease = try await lock(identity, waitingAtMost: limit)
        let answer = await body(lease)
        await lease.release()
        return answer
    }

    /// Nothing is ever in another place.
    public func misplacement(of identity: String) async -> StoreError? { nil }

    /// It is never away.
    public func settlement(of identity: String) async -> Instant? { nil }

    /// Nobody can be told.
    public func claim(_ identity: String) async -> (any Sendable)? { nil }

    /// There is one place.
    public func hasMoved(_ identity: String) async -> Bool { false }
}
