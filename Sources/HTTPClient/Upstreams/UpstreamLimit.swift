// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many connections all workers together may have to one route's upstream, and which exchanges wait for one.
///
/// The workers share it. It is touched when a connection is opened or closed, and when one becomes idle while
/// somebody waits; never for a request that finds an idle connection. First come, first served.
package final class UpstreamLimit: Sendable {
    /// What the waiter at the head of the queue gets.
    enum Outcome: Sendable {
        /// It may open a connection.
        case permit
        /// Its pool has put aside for it what another exchange has left.
        case reserved
        case timedOut
        case cancelled
    }

    /// Who is to be served next.
    enum Next {
        case nobody
        /// A waiter of the same pool; it is no longer in the queue.
        case own(Waiter)
        /// One that waits on another loop.
        case another
    }

    /// A request that waits.
    ///
    /// Whoever takes it out of the queue resumes it.
    struct Waiter: Sendable {
        let number: UInt64
        let pool: ObjectIdentifier
        let continuation: UnsafeContinuation<Outcome, Never>
    }

    private struct State {
        var open = 0
        var lastNumber: UInt64 = 0
        var waiters: [Waiter] = []
        /// By pool: asks it, on its loop, for connections that it does not need.
        var members: [ObjectIdentifier: Member] = [:]
    }

    package let maximum: Int
    private let state = Mutex(State())
    /// The length of the queue, to be read without the mutex.
    private let waiterCount = Atomic<Int>(0)

    /// - Parameter maximum: at least 1.
    package init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    /// The connections that are open now, in use or idle.
    package var openCount: Int { state.withLock { $0.open } }

    /// Whether somebody waits: one atomic load.
    var isAwaited: Bool { waiterCount.load(ordering: .relaxed) > 0 }

    /// Asks a pool for idle connections: for all of them, or as many as somebody waits for.
    typealias Member = @Sendable (_ all: Bool) -> Void

    func join(_ pool: ObjectIdentifier, surrender: @escaping Member) {
        state.withLock { $0.members[pool] = surrender }
    }

    /// Has every pool close its idle connections soon.
    func closeIdle() {
        let members = state.withLock { Array($0.members.values) }
        members.forEach { $0(true) }
    }

    func leave(_ pool: ObjectIdentifier) {
        state.withLock { $0.members[pool] = nil }
    }

    /// A permit, if one is free and nobody waits for it.
    func permitNow() -> UpstreamPermit? {
        let isFree = state.withLock { state in
            guard state.open < maximum, state.waiters.isEmpty else { return false }
            state.open += 1
            return true
        }
        return isFree ? UpstreamPermit(self) : nil
    }

    /// A number that names a wait, so that it can be ended from elsewhere.
    func nextNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Puts somebody at the end of the queue, and asks every pool for what it does not need.
    func enqueue(_ waiter: Waiter) {
        let (isServed, members) = state.withLock { state -> (Bool, [Member]) in
            if state.open < maximum, state.waiters.isEmpty {
                state.open += 1
                return (true, [])
            }
            state.waiters.append(waiter)
            waiterCount.store(state.waiters.count, ordering: .relaxed)
            return (false, Array(state.members.values))
        }
        if isServed { waiter.continuation.resume(returning: .permit) }
        members.forEach { $0(false) }
    }

    /// Ends a wait that nobody has served.
    func abandon(_ number: UInt64, with grant: Outcome) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            defer { waiterCount.store(state.waiters.count, ordering: .relaxed) }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: grant)
    }

    /// Takes the first waiter out of the queue, if it waits for `pool`: an exchange there has left its connection, which
    /// that waiter can have.
    func next(for pool: ObjectIdentifier) -> Next {
        state.withLock { state in
            guard let first = state.waiters.first else { return .nobody }
            guard first.pool == pool else { return .another }
            state.waiters.removeFirst()
            waiterCount.store(state.waiters.count, ordering: .relaxed)
            return .own(first)
        }
    }

    /// Called when a permit goes: it passes to the first who waits, or is free.
    func release() {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.waiters.isEmpty else {
                state.open -= 1
                return nil
            }
            defer { waiterCount.store(state.waiters.count, ordering: .relaxed) }
            return state.waiters.removeFirst()
        }
        waiter?.continuation.resume(returning: .permit)
    }
}
