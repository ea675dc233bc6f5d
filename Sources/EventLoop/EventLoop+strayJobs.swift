// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Synchronization

extension EventLoop {
    /// The loop that runs jobs without an executor; kept for ever, because such jobs may come at any time.
    private static let straying = Mutex<EventLoop?>(nil)
    private static let isTaking = Atomic(false)

    /// True once Swift's own pool of threads gets no job any more.
    static var takesStrayJobs: Bool { isTaking.load(ordering: .relaxed) }

    /// Makes this loop run all jobs that Swift would run on its own pool of threads, but those that another loop's thread
    /// makes or wakes: they stay there.
    ///
    /// A task without a preferred executor, or a continuation resumed outside an actor, otherwise needs such
    /// a thread; if none can be started the runtime waits, and with it the code that woke the task. Call it
    /// once, before tasks exist. The library products never call it, because the pool belongs to their
    /// program.
    package func takeStrayJobs() {
        Self.straying.withLock { $0 = self }
        bearerd_divert_jobs { job in
            guard let job else { return }
            // The runtime's pointer to a job is all that an `UnownedJob` is.
            let unowned = unsafeBitCast(job, to: UnownedJob.self)
            if let current = bearerd_thread_loop() {
                // It runs on this thread, so it is alive.
                return Unmanaged<EventLoop>.fromOpaque(current).takeUnretainedValue().take(unowned)
            }
            EventLoop.straying.withLock({ $0 })?.take(unowned)
        }
        Self.isTaking.store(true, ordering: .relaxed)
    }
}
