// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// The end of one keeper's connections: who waits for the last of them, and the timer that closes those that are left.
///
/// Confined to its loop's thread.
final class KeeperEnd {
    /// How long a client may take to read what it is told when the process does not wait for its request any longer.
    private static let lastMoment = Duration.milliseconds(200)

    private let loop: EventLoop
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private var timer: LoopTimer?

    init(loop: EventLoop) { self.loop = loop }

    /// Waits until ``come()``.
    ///
    /// - Parameter isEmpty: asked once it would be heard of, because the last connection may end before the wait begins.
    func wait(unless isEmpty: () -> Bool) async {
        await withCheckedContinuation { continuation in
            waiting.append(continuation)
            if isEmpty() { come() }
        }
    }

    /// The last connection has ended.
    func come() {
        waiting.forEach { $0.resume() }
        waiting = []
    }

    /// Calls `close` once clients have had their last moment.
    func hurry(_ close: @escaping () -> Void) {
        let timer = LoopTimer(loop: loop, action: close)
        self.timer = timer
        timer.set(after: Self.lastMoment)
    }
}
