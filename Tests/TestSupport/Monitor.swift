// SPDX-License-Identifier: Apache-2.0

import Glibc

/// The time limit of every wait: minutes, because only a defect ever reaches it.
///
/// A test of promptness measures the best of several attempts instead of shortening this.
package let patience = Duration.seconds(240)

/// The error of a wait whose event did not come.
package struct TimedOut: Error, CustomStringConvertible {
    /// A description of the event.
    package let awaited: String

    package var description: String { "timed out waiting for \(awaited)" }

    package init(_ awaited: String) { self.awaited = awaited }
}

/// State shared by the threads of a test, with waiting for a condition.
///
/// Every change wakes every waiter, which checks its condition again. Nothing polls or sleeps.
package final class Monitor<State>: @unchecked Sendable {
    // The mutex and the condition need stable addresses, and the mutex guards `state`: hence @unchecked.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var state: State

    package init(_ state: State) {
        self.state = state
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the state, and wakes all waiters.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return try body(&state)
    }

    /// Waits until `look` returns a value other than nil, and returns it.
    package func wait<Result>(
        for awaited: @autoclosure () -> String, within limit: Duration = patience,
        _ look: (inout State) -> Result?
    ) throws(TimedOut) -> Result {
        var deadline = timespec()
        clock_gettime(CLOCK_MONOTONIC, &deadline)
        let nanoseconds = Int(deadline.tv_nsec) + Int(limit.components.attoseconds / 1_000_000_000)
        deadline.tv_sec += Int(limit.components.seconds) + nanoseconds / 1_000_000_000
        deadline.tv_nsec = nanoseconds % 1_000_000_000

        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let found = look(&state) { return found }
            if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT {
                if let found = look(&state) { return found }
                throw TimedOut(awaited())
            }
        }
    }
}

/// A barrier that opens once.
package final class Gate: Sendable {
    private let state = Monitor(false)

    package init() {}

    /// True once ``open()`` was called.
    package var isOpen: Bool { state.withLock { $0 } }

    /// Releases all current and future waiters.
    package func open() { state.withLock { $0 = true } }

    /// Waits until ``open()`` was called.
    package func pass(within limit: Duration = patience) throws(TimedOut) {
        try state.wait(for: "a gate to open", within: limit) { $0 ? () : nil }
    }
}
