// SPDX-License-Identifier: Apache-2.0

/// How much a peer takes on one connection, whichever of its exchanges sends it.
final class FakeWindow {
    var room: Int
    private var waiters: [() -> Void] = []

    init(room: Int) { self.room = room }

    /// Has `goOn` run once, when the window opens.
    func wait(_ goOn: @escaping () -> Void) { waiters.append(goOn) }

    /// The peer takes so much more.
    func open(by count: Int) {
        room += count
        let woken = waiters
        waiters = []
        woken.forEach { $0() }
    }
}
