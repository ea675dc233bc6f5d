// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdSystem

/// Gives a worker's memory back when it has had nothing to do for a while, and takes nothing from workers that are busy.
///
/// Confined to its loop's thread. No timer runs while there is nothing to give back.
final class MemoryRelief {
    private static let delay = Duration.seconds(2)
    /// Idle connections close by and by, and free some more.
    private static let delayWhileConnected = Duration.seconds(15)

    private let loop: EventLoop
    private let release: () -> Void
    /// Whether there are connections that somebody may close soon.
    private let isConnected: () -> Bool
    private var timer: LoopTimer?
    private var isTimerSet = false
    private var hasWorked = false

    /// - Parameters:
    ///   - release: lets go of what is kept for the next connection.
    init(loop: EventLoop, release: @escaping () -> Void, isConnected: @escaping () -> Bool) {
        self.loop = loop
        self.release = release
        self.isConnected = isConnected
    }

    /// A request has been served.
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
        loop.storagePool.empty()
        CurrentProcess.trimHeap()
        if isConnected() { setTimer(after: Self.delayWhileConnected) }
    }
}
