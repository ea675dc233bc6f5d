// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits the connections of all workers to one route's upstream, and queues the exchanges that wait for one.
///
/// First come, first served. It is used when a connection is opened or closed, and when one becomes idle
/// while another exchange waits; never for a request that finds an idle connection.
package final class UpstreamLimit: Sendable {
    /// The result of a wait.
    enum Outcome: Sendable {
        /// The waiter may open a connection.
        case permit
        /// The waiter's pool has reserved a connection for it that another exchange released.
        case reserved
        case timedOut
        case cancelled
    }

    /// The waiter to serve next.
    enum Next {
        case nobody
        /// A waiter of the same pool; it has been removed from the queue.
        case own(Waiter)
        /// The first waiter belongs to a pool on another loop.
        case another
    }

    /// A waiting request.
    ///
    /// The code that removes it from the queue resumes it.
    struct Waiter: Sendable {
        let number: UInt64
        let pool: ObjectIdentifier
        let continuation: UnsafeContinuation<Outcome, Never>
    }

    private struct State {
        var open = 0
        var lastNumber: UInt64 = 0
        var waiters: [Waiter] = []
        /// The pools, each with a function that asks it, on its loop, for unneeded connections.
        var members: [ObjectIdentifier: Member] = [:]
    }

    package let maximum: Int
    private let state = Mutex(State())
    /// The length of the queue, readable without the mutex.
    private let waiterCount = Atomic<Int>(0)

    /// - Parameter maximum: the most connections, at least 1.
    package init(maximum: Int) {
        self.maximum = max(1, maximum)
    }

    /// The open connections, in use or idle.
    package var openCount: Int { state.withLock { $0.open } }

    /// True if a request waits; costs one atomic load.
    var isAwaited: Bool { waiterCount.load(ordering: .relaxed) > 0 }

    /// Asks a pool to close idle connections: all of them, or as many as requests wait for.
    typealias Member = @Sendable (_ all: Bool) -> Void

    func join(_ pool: ObjectIdentifier, surrender: @escaping Member) {
        state.withLock { $0.members[pool] = surrender }
    }

    /// Makes every pool close its idle connections soon.
    func closeIdle() {
        let members = state.withLock { Array($0.members.values) }
        members.forEach { $0(true) }
    }

    func leave(_ pool: ObjectIdentifier) {
        state.withLock { $0.members[pool] = nil }
    }

    /// Takes a permit if one is free and no request waits for it.
    func permitNow() -> UpstreamPermit? { reserveNow() ? UpstreamPermit(self) : nil }

    /// Takes what a permit stands for.
    func reserveNow() -> Bool {
        state.withLock { state in
            guard state.open < maximum, state.waiters.isEmpty else { return false }
            state.open += 1
            return true
        }
    }

    /// Makes a number by which a wait can be ended from elsewhere.
    func nextNumber() -> UInt64 {
        state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Appends a waiter to the queue, and asks every pool for unneeded connections.
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

    /// Ends a wait that has not been served.
    func abandon(_ number: UInt64, with grant: Outcome) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            defer { waiterCount.store(state.waiters.count, ordering: .relaxed) }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: grant)
    }

    /// Removes the first waiter from the queue if it belongs to `pool`, where an exchange has released a
    /// connection that the waiter can have.
    func next(for pool: ObjectIdentifier) -> Next {
        state.withLock { state in
            guard let first = state.waiters.first else { return .nobody }
            guard first.pool == pool else { return .another }
            state.waiters.removeFirst()
            waiterCount.store(state.waiters.count, ordering: .relaxed)
            return .own(first)
        }
    }

    /// Called when a permit is released; passes it to the first waiter, if there is one.
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
