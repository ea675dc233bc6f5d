// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One wait on a loop's timer that can be ended early from any thread.
///
/// `@unchecked Sendable`: `timer` and `continuation` are touched on the loop's thread alone.
package final class LoopSleep: @unchecked Sendable {
    private var timer: LoopTimer?
    private var continuation: UnsafeContinuation<Void, Never>?
    private var hasEnded = false

    package init() {}

    /// Returns at `deadline` of the continuous clock, or as soon as ``end()`` has run.
    ///
    /// Call it once.
    package func sleep(until deadline: ContinuousClock.Instant, on loop: EventLoop) async {
        await withUnsafeContinuation { continuation in
            loop.execute { self.begin(continuation, until: deadline, on: loop) }
        }
    }

    /// Ends the wait; call it on the loop's thread.
    package func end() {
        hasEnded = true
        timer = nil
        continuation?.resume()
        continuation = nil
    }

    private func begin(
        _ continuation: UnsafeContinuation<Void, Never>, until deadline: ContinuousClock.Instant,
        on loop: EventLoop
    ) {
        guard !hasEnded else { return continuation.resume() }
        self.continuation = continuation
        wait(until: deadline, on: loop)
    }

    /// The loop's timers stand still while the machine sleeps: long waits are cut, so that an expiry is not missed by
    /// more than a minute after waking.
    private func wait(until deadline: ContinuousClock.Instant, on loop: EventLoop) {
        let remaining = ContinuousClock.now.duration(to: deadline)
        guard remaining > .zero else { return end() }
        let timer = LoopTimer(loop: loop) { [unowned self] in wait(until: deadline, on: loop) }
        self.timer = timer
        timer.set(after: min(remaining, .seconds(60)))
    }
}
