// SPDX-License-Identifier: Apache-2.0

/// One identity of a store, held from ``SessionStore/lock(_:waitingAtMost:)`` until ``release()``.
///
/// Only who has one can write. A store over a network may have to let others in while the holder stands still, so a
/// lease can be lost before its end; where the kernel keeps the lock that never happens.
public protocol StoreLease: Sendable {
    /// Replaces what is stored for the identity; returns once it would survive a power cut.
    ///
    /// One session before is kept, in case the newest is damaged: what is replaced if `keepsPrevious`, else what was
    /// kept so far, because nobody knows yet whether what is replaced ever worked.
    ///
    /// - Parameters:
    ///   - session: of this identity.
    ///   - read: what the holder has read of the store since it has the lease; nil if there was nothing.
    ///   - keepsPrevious: whether what is replaced is known to have worked.
    /// - Throws: ``StoreError/leaseLost``; ``StoreError/outdated`` if what is stored is newer than `read`, or not older
    ///   than `session`. Nothing has changed then. What is older than `read`, or gone, is replaced.
    func save(
        _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
    ) async throws(StoreError)

    /// The refresh token of `session` is about to be sent, after which it may be worth nothing.
    ///
    /// A store whose lease can be lost writes that down first, for who finds it left over.
    ///
    /// - Throws: ``StoreError/leaseLost``; the token must not be sent then, another process may have spent it.
    func spend(_ session: StoredSession) async throws(StoreError)

    /// True while nobody else can have the lease, as far as can be told without asking anybody.
    ///
    /// Once it is false a refresh token that is marked is not sent any more, nor once more: a request may have waited long
    /// since ``spend(_:)``, or its process may have stood still.
    var isHeld: Bool { get }

    /// True if the refresh token that ``spend(_:)`` was told of last had been spent before by somebody who ended, or gave
    /// up, without an answer: whoever finds that has the authorization server answer something else first.
    var mayBeSpent: Bool { get }

    /// Why what ``spend(_:)`` was told of last could not be written down, though nobody else has the lease meanwhile: whoever
    /// comes next would not know of it. nil if it was written down.
    var markTrouble: StoreError? { get }

    /// Tells if somebody who ended, or gave up, without an answer has spent the refresh token of `session`, which is what
    /// the holder has read since it has the lease: that must not be forgotten when something else is saved.
    func wasLeftSpent(_ session: StoredSession) async -> Bool

    /// Nobody knows what became of the refresh token that was spent: what was written down of it outlives the lease.
    func leaveSpent()

    /// True if somebody waits for the lock with a ``SessionStore/claim(_:)``.
    ///
    /// - Throws: where the store takes no claim now, or cannot be asked, so that nobody could be heard. A refresh token that
    ///   another process has sent is not sent once more then: that one may be about to say that it has the answer.
    func isClaimed() async throws(StoreError) -> Bool

    /// Lets others in; returns when they can come. The lease is worth nothing after that, and a second call does nothing.
    func release() async
}

extension StoreLease {
    /// It cannot be lost.
    public var isHeld: Bool { true }

    /// Nothing is written down.
    public var mayBeSpent: Bool { false }

    /// There is none.
    public var markTrouble: StoreError? { nil }

    /// Nothing is written down.
    public func wasLeftSpent(_ session: StoredSession) async -> Bool { false }

    /// Nothing is written down.
    public func leaveSpent() {}

    /// Nobody can tell.
    public func isClaimed() async throws(StoreError) -> Bool { false }
}

extension StoredSession {
    /// The comparison that a store makes before it writes, by generations.
    ///
    /// - Parameters:
    ///   - present: what it would replace.
    ///   - read: what the holder has read.
    /// - Throws: ``StoreError/outdated``.
    public func checkReplacing(_ present: StoredSession?, read: StoredSession?) throws(StoreError) {
        guard let present else { return }
        guard present.generation <= read?.generation ?? 0, present.generation < generation else {
            throw .outdated
        }
    }
}
