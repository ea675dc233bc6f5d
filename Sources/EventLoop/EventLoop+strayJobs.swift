// SPDX-License-Identifier: Apache-2.0

internal import CBearerdSystem
internal import Synchronization

extension EventLoop {
    /// The loop that runs what belongs nowhere; kept for ever, because jobs may come at any time.
    private static let straying = Mutex<EventLoop?>(nil)

    /// Has this loop run whatever Swift would run on a pool of threads of its own, from now on.
    ///
    /// A task that prefers no executor, or a continuation resumed outside of an actor, otherwise needs such a thread.
    /// Where there is none to be had, the runtime waits for one, and with it whoever woke the task. Call it once, before
    /// there are tasks; the library products never do, because the pool is their program's.
    package func takeStrayJobs() {
        Self.straying.withLock { $0 = self }
        bearerd_divert_jobs { job in
            guard let job, let loop = EventLoop.straying.withLock({ $0 }) else { return }
            // The runtime's pointer to a job is all that an `UnownedJob` is.
            loop.take(unsafeBitCast(job, to: UnownedJob.self))
        }
    }
}
