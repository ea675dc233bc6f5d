// SPDX-License-Identifier: Apache-2.0

/// Threads for tasks that read files, any of which may never come back, as where a network's file server is away.
///
/// One thing is done at a time, in order; what has stood for a second is left to its thread, and another one does the rest.
/// An actor's jobs must not run side by side, so this is for tasks alone. Two wait for work until ``stop()``.
package final class FileExecutor: DelayingExecutor {
    private let name: String
    private let queue: WorkQueue

    /// - Parameters:
    ///   - name: the threads' name, at most 15 bytes.
    ///   - mostThreads: no more than these stand in calls at a time.
    /// - Throws: ``SystemError`` if the system has no thread left.
    package init(named name: String, mostThreads: Int = 32) throws(SystemError) {
        self.name = name
        queue = WorkQueue(patience: .seconds(1), mostThreads: mostThreads)
        try startThread()
    }

    package func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job)) }

    package func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
        queue.add(after: delay, action)
    }

    /// Ends the threads after the waiting jobs and timers have run, the latter ahead of time.
    package func stop() { queue.stop() }

    private func startThread() throws(SystemError) {
        let thread = queue.addThread()
        do throws(SystemError) {
            try SystemThread.start(named: name) { [self] in run(thread) }
        } catch {
            queue.removeThread(thread)
            throw error
        }
    }

    private func run(_ thread: Int) {
        while true {
            let (work, needsThread) = queue.next(for: thread)
            // Without one, what comes waits until this thread is back; the next one tries again.
            if needsThread { try? startThread() }
            switch work {
            case .job(let job): job.runSynchronously(on: asUnownedTaskExecutor())
            case .timer(let action): action()
            case .stop: return
            }
        }
    }
}
