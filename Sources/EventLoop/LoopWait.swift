// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Where one task at a time waits for something to change that another tells of.
///
/// Whoever waits looks first, then waits for what is newer than what it has seen, and looks again. Confined to its loop's
/// thread.
package final class LoopWait {
    private let loop: EventLoop
    private var job: UnownedJob?
    private var continuation: UnsafeContinuation<StreamError?, Never>?
    /// How the last wait of a ``job`` has ended.
    private var failure: StreamError?
    private var deadline: CoarseInstant?
    private var timer: LoopTimer?
    /// When the timer fires; it may be early, for a wait that has since ended.
    private var timerDeadline: CoarseInstant?
    private var isInterrupted = false
    /// The previous time-out as a duration and in nanoseconds; it seldom changes.
    private var lastTimeout: (duration: Duration, nanoseconds: UInt64) = (.zero, 0)
    private var changes = 0
    /// Grows with each change.
    package var news: Int { changes }

    package init(loop: EventLoop) { self.loop = loop }

    /// Waits until there is something newer than `seen`.
    ///
    /// - Parameter deadline: nil waits for ever.
    /// - Throws: ``StreamError/timedOut``; ``StreamError/closed`` where ``interrupt()`` was called.
    package func wait(after seen: Int, until deadline: CoarseInstant?) async throws(StreamError) {
        precondition(!isWaiting, "two tasks wait for one change")
        self.deadline = deadline
        if let deadline { setTimer(to: deadline) }
        guard loop.hasWaitingRoom else {
            if let failure = await continuation(after: seen) { throw failure }
            return
        }
        if isInterrupted {
            isInterrupted = false
            throw .closed
        }
        guard changes == seen else { return }
        failure = nil
        loop.waitingRoom.announce(.wait(.passUnretained(self)))
        await loop.waitingRoom.enter()
        if let failure { throw failure }
    }

    /// Waits as a task that prefers the loop, or where loops take no stray jobs.
    private func continuation(after seen: Int) async -> StreamError? {
        await withUnsafeContinuation { (continuation: UnsafeContinuation<StreamError?, Never>) in
            if isInterrupted {
                isInterrupted = false
                continuation.resume(returning: .closed)
            } else if changes != seen {
                continuation.resume(returning: nil)
            } else {
                self.continuation = continuation
            }
        }
    }

    /// The end of a wait of that length that begins now; nil for one without end.
    package func end(of timeout: Duration) -> CoarseInstant? {
        guard timeout > .zero else { return nil }
        if timeout != lastTimeout.duration { lastTimeout = (timeout, timeout.wholeNanoseconds) }
        let length = Int64(clamping: lastTimeout.nanoseconds)
        return CoarseInstant(nanoseconds: CoarseInstant.now.nanoseconds &+ length)
    }

    func keep(_ job: UnownedJob) { self.job = job }

    private var isWaiting: Bool { job != nil || continuation != nil }

    /// Says that something has changed.
    package func wake() {
        changes &+= 1
        resume(with: nil)
    }

    /// Ends the wait that is under way, or else the next one, with ``StreamError/closed``.
    package func interrupt() {
        isInterrupted = !isWaiting
        resume(with: .closed)
    }

    /// Takes back an ``interrupt()`` that has met no wait.
    package func forgetInterruption() { isInterrupted = false }

    private func resume(with failure: StreamError?) {
        if let job {
            self.job = nil
            self.failure = failure
            loop.goOn(job)
        } else if let continuation {
            self.continuation = nil
            continuation.resume(returning: failure)
        }
    }

    private func setTimer(to deadline: CoarseInstant) {
        if let timerDeadline, timerDeadline <= deadline { return }
        let timer = timer ?? LoopTimer(loop: loop) { [unowned self] in timerFired() }  // `self` owns it
        self.timer = timer
        timerDeadline = deadline
        timer.set(after: max(deadline.duration(since: .now), .milliseconds(1)))
    }

    private func timerFired() {
        timerDeadline = nil
        guard isWaiting, let deadline else { return }
        if deadline <= .now { resume(with: .timedOut) } else { setTimer(to: deadline) }
    }
}

extension CoarseInstant {
    /// The end of a wait of that length that begins now; nil for one without end.
    package static func after(_ timeout: Duration) -> CoarseInstant? {
        timeout > .zero ? .now + timeout : nil
    }
}
