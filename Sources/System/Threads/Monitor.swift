// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// State that threads share, with a mutex and a condition variable.
///
/// `@unchecked Sendable`: `state` is used only while `mutex` is held.
final class Monitor<State>: @unchecked Sendable {
    /// The decision after looking at the state.
    enum Decision<Result> {
        case done(Result)
        /// Look again when the state has changed, or at `until`, whichever comes first.
        case wait(until: MonotonicTime?)
    }

    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let condition: UnsafeMutablePointer<pthread_cond_t>
    private var state: State

    init(_ state: State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        condition = .allocate(capacity: 1)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(condition)
        condition.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Changes the state and wakes all waiting threads.
    func update<Result>(_ change: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer {
            pthread_cond_broadcast(condition)
            pthread_mutex_unlock(mutex)
        }
        return change(&state)
    }

    /// Blocks the thread until `look` returns ``Decision/done(_:)``.
    func wait<Result>(_ look: (inout State) -> Decision<Result>) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            switch look(&state) {
            case .done(let result): return result
            case .wait(until: nil): pthread_cond_wait(condition, mutex)
            case .wait(until: let deadline?):
                var time = deadline.time
                pthread_cond_timedwait(condition, mutex, &time)
            }
        }
    }
}

/// A moment of `CLOCK_MONOTONIC`, which condition variables use here.
struct MonotonicTime: Comparable {
    private let nanoseconds: Int64

    static var now: MonotonicTime {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    var time: timespec {
        timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    private init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    static func < (left: MonotonicTime, right: MonotonicTime) -> Bool { left.nanoseconds < right.nanoseconds }

    /// The later moment, rounded up to a nanosecond; a duration above a century counts as one.
    static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let parts = min(max(duration, .zero), .seconds(3_155_760_000)).components
        let added = parts.seconds * 1_000_000_000 + (parts.attoseconds + 999_999_999) / 1_000_000_000
        return MonotonicTime(nanoseconds: time.nanoseconds + added)
    }
}
