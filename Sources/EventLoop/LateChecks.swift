// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Looks once more, a moment later, at the connections whose task waits inside a message.
///
/// A reset right behind data makes one edge with it, which libevent cannot tell from data alone. A task that then receives
/// all of the data finds the buffer empty and would wait for an edge that has already passed. One look is enough, and most
/// waits are over before it: so there is one timer for all of them, and a connection is noted once however often it waits
/// meanwhile. Confined to its loop's thread.
final class LateChecks {
    /// A connection is looked at between one and two of these after it was noted.
    private static let pace = Duration.milliseconds(100)

    /// Noted since the timer fired last.
    private let young = Exclusive<[Readiness]>([])
    /// Noted before that.
    private let old = Exclusive<[Readiness]>([])
    private var timer: LoopTimer?
    private var isTimerSet = false

    /// Notes a connection that is not noted.
    func add(_ readiness: Readiness, on loop: EventLoop) {
        young.value.append(readiness)
        guard !isTimerSet else { return }
        let timer = timer ?? LoopTimer(loop: loop) { [unowned self] in fire() }  // `self` owns it
        self.timer = timer
        isTimerSet = true
        timer.set(after: Self.pace)
    }

    /// Forgets all connections; they would keep the loop, and the timer must not outlive it.
    func removeAll() {
        young.value = []
        old.value = []
        timer = nil
        isTimerSet = false
    }

    private func fire() {
        var due: [Readiness] = []
        swap(&due, &old.value)
        swap(&young.value, &old.value)
        isTimerSet = !old.value.isEmpty
        if isTimerSet { timer?.set(after: Self.pace) }
        for readiness in due { readiness.checkReader() }
    }
}
