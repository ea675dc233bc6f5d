// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// The sessions of one identity in this process: one refresh token, and for each session an access token of its own.
///
/// To each other they are what other processes are, through the store. What the store cannot do for them is done
/// here: they take turns even when it cannot lock, see what it could not write, and hear of changes at once.
public final class SessionFamily: Sendable {
    private struct Member {
        weak var session: (any FamilyMember)?
        var state: IdentityState
    }

    private struct State {
        var members: [ObjectIdentifier: Member] = [:]
        var isTaken = false
        var waiting: [CheckedContinuation<Void, Never>] = []
        /// Those who come before everybody in `waiting`.
        var superseding: [CheckedContinuation<Void, Never>] = []
        var unwritten: StoredSession?
        /// Who is to write that, if the refresh token that the store holds in its place has been sent already.
        var keeper: ObjectIdentifier?
        var keptLease: (any StoreLease)?
        var outranksStored = false
        var reported = ReportedState(.empty)

        /// The identity's state: the first that applies to one of the members.
        var word: IdentityState? {
            let present = Set(members.values.map(\.state))
            return IdentityState.allCases.first(where: present.contains)
        }
    }

    private let state = Mutex(State())

    /// A family without members.
    public init() {}

    // MARK: Members

    /// `session` begins, and nothing is known of it yet.
    func join(_ session: any FamilyMember) {
        state.withLock { state in
            state.members[ObjectIdentifier(session)] = Member(session: session, state: .empty)
        }
    }

    /// `session` counts no more for the state of the identity.
    func leave(_ session: any FamilyMember) {
        state.withLock { $0.members[ObjectIdentifier(session)] = nil }
    }

    /// Whether `session` counts for the state of the identity.
    func has(_ session: any FamilyMember) -> Bool {
        state.withLock { $0.members[ObjectIdentifier(session)] != nil }
    }

    /// Every session of the identity but `session`.
    func siblings(of session: any FamilyMember) -> [any FamilyMember] {
        state.withLock { state in
            state.members.values.compactMap(\.session).filter { $0 !== session }
        }
    }

    /// Takes in the state that `session` is in.
    ///
    /// - Returns: what became of the identity's, if that is to be told now; when to ask again, if it is to be told
    ///   later.
    func look(
        _ session: any FamilyMember, in present: IdentityState, at now: Instant
    ) -> (change: (from: IdentityState, to: IdentityState)?, due: Instant?) {
        state.withLock { state in
            state.members[ObjectIdentifier(session)]?.state = present
            guard let new = state.word else { return (nil, nil) }
            let old = state.reported.look(new, at: now)
            return (old.map { ($0, new) }, state.reported.due)
        }
    }

    // MARK: Turns

    /// Returns when nobody else makes a token request with the refresh token that all have in common.
    ///
    /// - Parameter isSuperseding: whether it goes before all others; see ``isSuperseded``.
    func takeTurn(
        superseding isSuperseding: Bool = false, isolation: isolated (any Actor)? = #isolation
    ) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isTaken else {
                    state.isTaken = true
                    return true
                }
                if isSuperseding {
                    state.superseding.append(continuation)
                } else {
                    state.waiting.append(continuation)
                }
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Whether somebody waits for the turn whose wish makes a token request needless, or another one.
    var isSuperseded: Bool { state.withLock { !$0.superseding.isEmpty } }

    func endTurn() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard state.superseding.isEmpty else { return state.superseding.removeFirst() }
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.isTaken = false
            return nil
        }
        next?.resume()
    }

    // MARK: What could not be written

    /// `session` was saved, or could not be.
    ///
    /// - Parameter outranksStored: whether it is newer than what is stored, whatever the generations.
    func saved(_ session: StoredSession, isWritten: Bool, outranksStored: Bool = false) {
        state.withLock { state in
            if isWritten { state.keeper = nil }
            state.outranksStored = !isWritten && (outranksStored || state.outranksStored)
            state.unwritten = isWritten ? nil : session
        }
    }

    /// The newer one of what the store holds and what it could not take.
    func newest(_ stored: StoredSession?) -> StoredSession? {
        state.withLock { state in
            guard let unwritten = state.unwritten else { return stored }
            let isNewer =
                state.outranksStored ? stored?.begins(after: unwritten) : stored?.supersedes(unwritten)
            guard isNewer == true else { return unwritten }
            state.unwritten = nil
            state.outranksStored = false
            state.keeper = nil
            return stored
        }
    }

    /// The store could not take `session` of a member, and holds `stored` still.
    ///
    /// Its refresh token is worth nothing if a rotation has replaced it, and worse: a provider takes whoever sends it for
    /// a thief, and ends the whole session (RFC 9700 §4.14.2).
    func couldNotReplace(_ stored: StoredSession?, with session: StoredSession, of member: any FamilyMember) {
        guard let stored, let old = stored.refreshToken, let new = session.refreshToken,
            stored.origin == session.origin, !new.withPlaintext({ old.matches(Array($0.utf8)) })
        else { return }
        state.withLock { $0.keeper = ObjectIdentifier(member) }
    }

    // MARK: The lock that outlives what it was taken for

    /// Whether other processes must not read the store before it has been written.
    var mustKeepLock: Bool { state.withLock { $0.keeper != nil } }

    /// The store's lease, kept by whoever has the turn for the next one who gets it.
    var keptLease: (any StoreLease)? {
        get { state.withLock { $0.keptLease } }
        set { state.withLock { $0.keptLease = newValue } }
    }

    /// The lock is somebody else's by now, or nobody's: it cannot be kept, and must be had anew before anything is written.
    func lostLock() { state.withLock { $0.keeper = nil } }

    /// Whether `member` is the one that the lock is kept for.
    func keepsLock(for member: any FamilyMember) -> Bool {
        state.withLock { $0.keeper == ObjectIdentifier(member) }
    }

    /// What `old` kept the lock for is for `new` to write.
    func replaceKeeper(_ old: any FamilyMember, by new: any FamilyMember) {
        state.withLock { state in
            if state.keeper == ObjectIdentifier(old) { state.keeper = ObjectIdentifier(new) }
        }
    }

    /// The lock is not kept any longer, written or not.
    ///
    /// - Returns: the lease, to be released.
    func giveUpLock() -> (any StoreLease)? {
        state.withLock { state in
            defer { state.keptLease = nil }
            state.keeper = nil
            return state.keptLease
        }
    }
}
