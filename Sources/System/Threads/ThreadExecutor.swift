// SPDX-License-Identifier: Apache-2.0

/// One thread for an actor, and tasks, whose calls block: files and `fsync`.
///
/// The thread lives until ``stop()``, even if nobody refers to the executor.
package final class ThreadExecutor: SerialExecutor, DelayingExecutor {
    private let queue = WorkQueue()

    /// - Parameter name: the thread's name, at most 15 bytes.
    /// - Throws: ``SystemError`` if the system has no thread left.
    package init(named name: String) throws(SystemError) {
        let thread = queue.addThread()
        try SystemThread.start(named: name) { [self] in
            while true {
                switch queue.next(for: thread).work {
                case .job(let job):
                    job.runSynchronously(
                        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
                case .timer(let action): action()
                case .stop: return
                }
            }
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) { queue.add(UnownedJob(job)) }

    package func after(_ delay: Duration, _ action: @escaping @Sendable () -> Void) {
        queue.add(after: delay, action)
    }

    /// Ends the thread after the waiting jobs and timers have run, the latter ahead of time.
    ///
    /// Jobs that come later never run, so nobody may use the executor any more.
    package func stop() { queue.stop() }
}
