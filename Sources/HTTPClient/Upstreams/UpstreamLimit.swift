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
        /// The first waiter belongs to a pool on another loop, or the connection is one too many.
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
        var maximum: Int
        var open = 0
        var lastNumber: UInt64 = 0
        var waiters: [Waiter] = []
        /// The pools, each with a function that asks it, on its loop, for unneeded connections.
        var members: [ObjectIdentifier: Member] = [:]
    }

    private let state: Mutex<State>
    /// How many connections are wanted back, readable without the mutex.
    private let wantedCount = Atomic<Int>(0)

    /// - Parameter maximum: the most connections, at least 1.
    package init(maximum: Int) {
        state = Mutex(State(maximum: max(1, maximum)))
    }

    /// The open connections, in use or idle.
    package var openCount: Int { state.withLock { $0.open } }

    /// True if more than half of the connections are open.
    var isCrowded: Bool { state.withLock { $0.open > $0.maximum / 2 } }

    /// True if a request waits, or more connections are open than may be; costs one atomic load.
    var isShort: Bool { wantedCount.load(ordering: .relaxed) > 0 }

    /// Changes the most connections; those that are open count on, though they be more.
    package func change(maximum: Int) {
        let (served, members) = state.withLock { state -> ([Waiter], [Member]) in
            state.maximum = max(1, maximum)
            let served = Array(state.waiters.prefix(max(0, state.maximum - state.open)))
            state.waiters.removeFirst(served.count)
            state.open += served.count
            noteWanted(state)
            return (served, state.open > state.maximum ? Array(state.members.values) : [])
        }
        served.forEach { $0.continuation.resume(returning: .permit) }
        members.forEach { $0(false) }
    }

    private func noteWanted(_ state: State) {
        wantedCount.store(state.waiters.count + max(0, state.open - state.maximum), ordering: .relaxed)
    }

    /// Asks a pool to close idle connections: all of them, or as many as are wanted back.
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
            guard state.open < state.maximum, state.waiters.isEmpty else { return false }
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
            if state.open < state.maximum, state.waiters.isEmpty {
                state.open += 1
                return (true, [])
            }
            state.waiters.append(waiter)
            noteWanted(state)
            return (false, Array(state.members.values))
        }
        if isServed { waiter.continuation.resume(returning: .permit) }
        members.forEach { $0(false) }
    }

    /// Ends a wait that has not been served.
    func abandon(_ number: UInt64, with grant: Outcome) {
        let waiter = state.withLock { state -> Waiter? in
            guard let index = state.waiters.firstIndex(where: { $0.number == number }) else { return nil }
            defer { noteWanted(state) }
            return state.waiters.remove(at: index)
        }
        waiter?.continuation.resume(returning: grant)
    }

    /// Removes the first waiter from the queue if it belongs to `pool`, where an exchange has released a
    /// connection that the waiter can have.
    func next(for pool: ObjectIdentifier) -> Next {
        state.withLock { state in
            guard state.open <= state.maximum else { return .another }
            guard let first = state.waiters.first else { return .nobody }
            guard first.pool == pool else { return .another }
            state.waiters.removeFirst()
            noteWanted(state)
            return .own(first)
        }
    }

    /// Called when a permit is released; passes it to the first waiter, if there is one and it is none too many.
    func release() {
        let waiter = state.withLock { state -> Waiter? in
            guard !state.waiters.isEmpty, state.open <= state.maximum else {
                state.open -= 1
                noteWanted(state)
                return nil
            }
            defer { noteWanted(state) }
            return state.waiters.removeFirst()
        }
        waiter?.continuation.resume(returning: .permit)
    }
}
