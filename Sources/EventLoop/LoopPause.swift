// SPDX-License-Identifier: Apache-2.0

/// Where one task at a time waits to be told yes or no.
///
/// Confined to its loop's thread. There is one answer for each wait.
package final class LoopPause {
    private let loop: EventLoop
    private var job: UnownedJob?
    private var continuation: UnsafeContinuation<Bool, Never>?
    /// Given while the task was on its way to the wait.
    private var earlyAnswer: Bool?
    private var answer = false

    package init(loop: EventLoop) { self.loop = loop }

    /// Waits until somebody answers.
    package func wait() async -> Bool {
        precondition(job == nil && continuation == nil, "two tasks wait for one answer")
        guard loop.hasWaitingRoom else {
            return await withUnsafeContinuation { continuation in
                // A caller on no actor may have let other jobs run before this.
                if let earlyAnswer {
                    self.earlyAnswer = nil
                    continuation.resume(returning: earlyAnswer)
                } else {
                    self.continuation = continuation
                }
            }
        }
        loop.waitingRoom.announce(.pause(.passUnretained(self)))
        await loop.waitingRoom.enter()
        return answer
    }

    /// Has the task that waits go on; nobody waits any more then.
    package func resume(returning answer: Bool) {
        if let job {
            self.job = nil
            self.answer = answer
            loop.goOn(job)
        } else if let continuation {
            self.continuation = nil
            continuation.resume(returning: answer)
        } else {
            earlyAnswer = answer
        }
    }

    func keep(_ job: UnownedJob) { self.job = job }
}
