// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdSystem

/// Returns a worker's free memory to the system after some idle time, never while it is busy.
///
/// Confined to its loop's thread. No timer runs while there is nothing to return.
final class MemoryRelief {
    private static let delay = Duration.seconds(2)
    /// The delay before the next round, which frees the memory of idle connections that close in between.
    private static let delayWhileConnected = Duration.seconds(15)

    private let loop: EventLoop
    private let release: () -> Void
    /// Returns true if idle connections exist that may close soon.
    private let isConnected: () -> Bool
    private var timer: LoopTimer?
    private var isTimerSet = false
    private var hasWorked = false

    /// - Parameters:
    ///   - release: drops the objects that are kept for the next connection.
    ///   - isConnected: returns true if idle connections exist that may close soon.
    init(loop: EventLoop, release: @escaping () -> Void, isConnected: @escaping () -> Bool) {
        self.loop = loop
        self.release = release
        self.isConnected = isConnected
    }

    /// Notes that a request was served.
    func worked() {
        hasWorked = true
        if !isTimerSet { setTimer(after: Self.delay) }
    }

    func cancel() { timer?.cancel() }

    private func setTimer(after delay: Duration) {
        isTimerSet = true
        let timer = timer ?? LoopTimer(loop: loop) { [unowned self] in decide() }
        self.timer = timer
        timer.set(after: delay)
    }

    private func decide() {
        isTimerSet = false
        guard !hasWorked else {
            hasWorked = false
            return setTimer(after: Self.delay)
        }
        release()
        loop.dropSpares()
        CurrentProcess.trimHeap()
        if isConnected() { setTimer(after: Self.delayWhileConnected) }
    }
}
