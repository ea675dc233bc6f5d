// SPDX-License-Identifier: Apache-2.0

/// Where one task at a time waits for something to change that another tells of.
///
/// Whoever waits looks first, then waits for what is newer than what it has seen, and looks again. Confined to its loop's
/// thread.
package final class LoopWait {
    private let loop: EventLoop
    private var continuation: UnsafeContinuation<StreamError?, Never>?
    private var deadline: CoarseInstant?
    private var timer: LoopTimer?
    /// When the timer fires; it may be early, for a wait that has since ended.
    private var timerDeadline: CoarseInstant?
    private var isInterrupted = false
    private var changes = 0
    /// Grows with each change.
    package var news: Int { changes }

    package init(loop: EventLoop) { self.loop = loop }

    /// Waits until there is something newer than `seen`.
    ///
    /// - Parameter deadline: nil waits for ever.
    /// - Throws: ``StreamError/timedOut``; ``StreamError/closed`` where ``interrupt()`` was called.
    package func wait(after seen: Int, until deadline: CoarseInstant?) async throws(StreamError) {
        self.deadline = deadline
        if let deadline { setTimer(to: deadline) }
        let failure = await withUnsafeContinuation {
            (continuation: UnsafeContinuation<StreamError?, Never>) in
            if isInterrupted {
                isInterrupted = false
                continuation.resume(returning: .closed)
            } else if changes != seen {
                continuation.resume(returning: nil)
            } else {
                self.continuation = continuation
            }
        }
        if let failure { throw failure }
    }

    /// Says that something has changed.
    package func wake() {
        changes &+= 1
        resume(with: nil)
    }

    /// Ends the wait that is under way, or else the next one, with ``StreamError/closed``.
    package func interrupt() {
        isInterrupted = continuation == nil
        resume(with: .closed)
    }

    /// Takes back an ``interrupt()`` that has met no wait.
    package func forgetInterruption() { isInterrupted = false }

    private func resume(with failure: StreamError?) {
        let waiter = continuation
        continuation = nil
        waiter?.resume(returning: failure)
    }

    private func setTimer(to deadline: CoarseInstant) {
        if let timerDeadline, timerDeadline <= deadline { return }
        let timer = timer ?? LoopTimer(loop: loop) { [unowned self] in timerFired() }  // it goes with us
        self.timer = timer
        timerDeadline = deadline
        timer.set(after: max(deadline.duration(since: .now), .milliseconds(1)))
    }

    private func timerFired() {
        timerDeadline = nil
        guard continuation != nil, let deadline else { return }
        if deadline <= .now { resume(with: .timedOut) } else { setTimer(to: deadline) }
    }
}

extension CoarseInstant {
    /// The end of a wait of that length that begins now; nil for one without end.
    package static func after(_ timeout: Duration) -> CoarseInstant? {
        timeout > .zero ? .now + timeout : nil
    }
}
