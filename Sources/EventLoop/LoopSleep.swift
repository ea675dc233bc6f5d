// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A wait on a loop's timer that any thread can end early.
///
/// `@unchecked Sendable`: `timer` and `continuation` are used on the loop's thread only.
package final class LoopSleep: @unchecked Sendable {
    private var timer: LoopTimer?
    private var continuation: UnsafeContinuation<Void, Never>?
    private var hasEnded = false

    package init() {}

    /// Waits until `deadline` or ``end()``; call it once.
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

    /// Waits in parts of at most a minute.
    ///
    /// The loop's timers stand still while the machine sleeps; so an expiry is missed by a minute at most
    /// after waking.
    private func wait(until deadline: ContinuousClock.Instant, on loop: EventLoop) {
        let remaining = ContinuousClock.now.duration(to: deadline)
        guard remaining > .zero else { return end() }
        let timer = LoopTimer(loop: loop) { [unowned self] in wait(until: deadline, on: loop) }
        self.timer = timer
        timer.set(after: min(remaining, .seconds(60)))
    }
}
