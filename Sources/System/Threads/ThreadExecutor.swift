// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// One thread for an actor, and tasks, whose calls block: files and `fsync`.
///
/// The thread lives until ``stop()``, even if nobody refers to the executor; so do those that ``relieve()`` adds.
package final class ThreadExecutor: SerialExecutor, TaskExecutor {
    private struct Timer {
        let deadline: MonotonicTime
        let action: @Sendable () -> Void
    }

    private struct State {
        var jobs: [UnownedJob] = []
        /// A few at a time, hence unsorted.
        var timers: [Timer] = []
        var isStopping = false
        var threads = 1
        /// The threads that wait for work.
        var idle = 0
    }

    private enum Work {
        case job(UnownedJob)
        case timer(@Sendable () -> Void)
        case stop
    }

    private static let mostThreads = 16

    private let monitor = Monitor(State())
    private let name: String

    /// - Parameter name: the thread's name, at most 15 bytes.
    /// - Throws: ``SystemError`` if the system has no thread left.
    package init(named name: String) throws(SystemError) {
        self.name = name
        try SystemThread.start(named: name) { [self] in run() }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        monitor.update { $0.jobs.append(job) }
    }

    /// Runs `action` on the thread after at least `delay`, or never if ``stop()`` was called before.
    package func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
        let timer = Timer(deadline: .now + delay, action: action)
        monitor.update { state in
            if !state.isStopping { state.timers.append(timer) }
        }
    }

    /// Suspends the caller for at least `delay` without blocking the thread; ignores cancellation, so keep it
    /// short.
    package func sleep(for delay: Duration) async {
        await withCheckedContinuation { continuation in
            after(delay) { continuation.resume() }
        }
    }

    /// Has one more thread do what waits, if all there are stand in a call that does not come back.
    ///
    /// There are sixteen at most. An actor's jobs must not run side by side, so this is for tasks alone.
    package func relieve() {
        let isNeeded = monitor.update { state in
            guard state.idle == 0, state.threads < Self.mostThreads, !state.isStopping else { return false }
            state.threads += 1
            return true
        }
        guard isNeeded else { return }
        do throws(SystemError) {
            try SystemThread.start(named: name) { [self] in run() }
        } catch {
            monitor.update { $0.threads -= 1 }
        }
    }

    /// Ends the thread after the waiting jobs and timers have run, the latter ahead of time.
    ///
    /// Jobs that come later never run, so nobody may use the executor any more.
    package func stop() {
        monitor.update { $0.isStopping = true }
    }

    private func run() {
        while true {
            switch nextWork() {
            case .job(let job):
                job.runSynchronously(
                    isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
            case .timer(let action): action()
            case .stop: return
            }
        }
    }

    private func nextWork() -> Work {
        var isIdle = false
        return monitor.wait { state in
            let decision = Self.decide(&state)
            let waits = if case .wait = decision { true } else { false }
            if waits != isIdle { state.idle += waits ? 1 : -1 }
            isIdle = waits
            return decision
        }
    }

    private static func decide(_ state: inout State) -> Monitor<State>.Decision<Work> {
        if !state.jobs.isEmpty { return .done(.job(state.jobs.removeFirst())) }
        let timers = state.timers
        guard let next = timers.indices.min(by: { timers[$0].deadline < timers[$1].deadline }) else {
            return state.isStopping ? .done(.stop) : .wait(until: nil)
        }
        guard state.isStopping || state.timers[next].deadline <= .now else {
            return .wait(until: state.timers[next].deadline)
        }
        return .done(.timer(state.timers.remove(at: next).action))
    }
}
