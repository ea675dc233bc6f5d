// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
import BearerdSystem
package import OAuth

/// A session's clocks, with a loop's timers.
package struct LoopClock: SessionClock {
    let loop: EventLoop

    package init(loop: EventLoop) { self.loop = loop }

    package var now: Instant { ContinuousClock.now }
    package var wallNow: WallTime { WallTime(sinceEpoch: WallClock.sinceEpoch) }

    package func sleep(until deadline: Instant) async throws(CancellationError) {
        try await sleep(until: deadline, isolation: #isolation)
    }

    /// Naming the caller's actor keeps the closure below on it; otherwise it would run on the global pool.
    private func sleep(
        until deadline: Instant, isolation: isolated (any Actor)?
    ) async throws(CancellationError) {
        let sleep = LoopSleep()
        await withTaskCancellationHandler {
            _ = isolation
            await sleep.sleep(until: deadline, on: loop)
        } onCancel: {
            loop.execute { sleep.end() }
        }
        if Task.isCancelled { throw CancellationError() }
    }
}
