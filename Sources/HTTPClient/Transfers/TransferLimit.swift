// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop

/// Ends a transfer that takes too long, counting only time in which the response could have been read.
///
/// After a standstill of the process (a paused container, a sleeping machine) the response may be ready in
/// the socket, and a token in it would be lost. The limit is therefore counted in slices, and a slice that
/// ends late does not count.
///
/// Confined to its loop's thread.
final class TransferLimit {
    private static let slices = 10

    private var slice: Duration
    private let loop: EventLoop
    private let action: () -> Duration?
    private var slicesLeft = TransferLimit.slices
    /// The late slices that are forgiven; otherwise a machine that is always late would make the limit
    /// endless.
    private var lateSlicesAllowed = TransferLimit.slices
    private var sliceEnd = ContinuousClock.now
    // `self` owns the timer.
    private lazy var timer = LoopTimer(loop: loop) { [unowned self] in sliceEnded() }

    /// - Parameters:
    ///   - limit: a positive duration.
    ///   - action: called when the limit has passed; returns the time after which to call it again, or nil.
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
