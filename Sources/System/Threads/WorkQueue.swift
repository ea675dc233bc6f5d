// SPDX-License-Identifier: Apache-2.0

/// Jobs and timers for the threads of an executor, and the rule by which a thread takes one.
final class WorkQueue: Sendable {
    enum Work {
        case job(UnownedJob)
        case timer(@Sendable () -> Void)
        /// The thread that gets this ends.
        case stop
    }

    private struct Timer {
        let deadline: MonotonicTime
        let action: @Sendable () -> Void
    }

    private struct State {
        var jobs: [UnownedJob] = []
        /// A few at a time, hence unsorted.
        var timers: [Timer] = []
        var isStopping = false
        /// The threads that wait for work.
        var idle = 0
        /// The threads that work, by number, each with the time at which it took what it does.
        var busy: [Int: MonotonicTime] = [:]
        var nextThread = 0

        var threads: Int { idle + busy.count }
    }

    private let monitor = Monitor(State())
    /// How long one thread may do one thing before another one does the rest; nil where there is one thread.
    private let patience: Duration?
    private let mostThreads: Int

    /// - Parameters:
    ///   - patience: nil for one thread alone.
    ///   - mostThreads: the most that there are at a time.
    init(patience: Duration? = nil, mostThreads: Int = 1) {
        self.patience = patience
        self.mostThreads = mostThreads
    }

    func add(_ job: UnownedJob) { monitor.update { $0.jobs.append(job) } }

    /// Adds an action that is due after at least `delay`; it never runs if ``stop()`` was called before.
    func add(after delay: Duration, _ action: @escaping @Sendable () -> Void) {
        let timer = Timer(deadline: .now + delay, action: action)
        monitor.update { state in
            if !state.isStopping { state.timers.append(timer) }
        }
    }

    /// Ends the threads once the waiting jobs and timers have run, the latter ahead of time.
    func stop() { monitor.update { $0.isStopping = true } }

    /// Counts a thread that is about to begin.
    ///
    /// - Returns: its number.
    func addThread() -> Int {
        monitor.update { state in
            state.nextThread += 1
            state.busy[state.nextThread] = .now
            return state.nextThread
        }
    }

    /// Forgets a thread that could not begin.
    func removeThread(_ thread: Int) { monitor.update { $0.busy[thread] = nil } }

    /// Waits for what this thread shall do next.
    ///
    /// - Returns: the work, and whether nobody is left who would do what comes while this thread does it.
    func next(for thread: Int) -> (work: Work, needsThread: Bool) {
        monitor.update { state in
            state.busy[thread] = nil
            state.idle += 1
        }
        return monitor.wait { state in
            // Two are enough: one comes back, and one stood in for it.
            switch state.idle > 2 ? .done(.stop) : decide(&state) {
            case .wait(let deadline): return .wait(until: deadline)
            case .done(.stop):
                state.idle -= 1
                return .done((.stop, false))
            case .done(let work):
                state.idle -= 1
                state.busy[thread] = .now
                return .done((work, state.idle == 0 && state.threads < mostThreads))
            }
        }
    }

    private func decide(_ state: inout State) -> Monitor<State>.Decision<Work> {
        let next = state.timers.indices.min { state.timers[$0].deadline < state.timers[$1].deadline }
        let deadline = next.map { state.timers[$0].deadline }
        let isDue = deadline.map { state.isStopping || $0 <= .now } ?? false
        guard !state.jobs.isEmpty || isDue else {
            return state.isStopping ? .done(.stop) : .wait(until: deadline)
        }
        if let patience, let begun = state.busy.values.max(), .now < begun + patience {
            return .wait(until: begun + patience)
        }
        if !state.jobs.isEmpty { return .done(.job(state.jobs.removeFirst())) }
        guard let next else { return .wait(until: nil) }
        return .done(.timer(state.timers.remove(at: next).action))
    }
}
