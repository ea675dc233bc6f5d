// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// Ends a transfer that takes too long, and counts only time in which its answer could have been read.
///
/// Where the process stood still (a paused container, a machine asleep) the answer may lie ready in the socket, and a
/// token in it would be lost. So the limit is counted in slices, and one that ends late does not count.
///
/// Confined to its loop's thread.
final class TransferLimit {
    private static let slices = 10

    private var slice: Duration
    private let loop: EventLoop
    private let action: () -> Duration?
    private var slicesLeft = TransferLimit.slices
    /// A machine too busy to be on time must not make the limit endless.
    private var lateSlicesAllowed = TransferLimit.slices
    private var sliceEnd = ContinuousClock.now
    // The timer goes with us.
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in sliceEnded() }

    /// - Parameters:
    ///   - limit: more than zero.
    ///   - action: runs when it has passed, and again when the time has that it asks for; nil asks for none.
    init(_ limit: Duration, loop: EventLoop, action: @escaping () -> Duration?) {
        slice = limit / TransferLimit.slices
        self.loop = loop
        self.action = action
        begin()
    }

    private func begin() {
        sliceEnd = .now + slice
        timer.set(after: slice)
    }

    private func sliceEnded() {
        if ContinuousClock.now > sliceEnd + slice / 2, lateSlicesAllowed > 0 {
            lateSlicesAllowed -= 1
        } else {
            slicesLeft -= 1
        }
        if slicesLeft > 0 { return begin() }
        guard let more = action() else { return }
        slice = more / TransferLimit.slices
        slicesLeft = TransferLimit.slices
        lateSlicesAllowed = TransferLimit.slices
        begin()
    }
}
