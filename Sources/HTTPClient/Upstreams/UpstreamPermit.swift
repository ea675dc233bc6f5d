// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The right to one connection, or one request of HTTP/2, under an ``UpstreamLimit``, released by its deinit.
package final class UpstreamPermit: Sendable {
    private let limit: UpstreamLimit
    /// False once the right was given back.
    private let isHeld = Atomic(true)

    init(_ limit: UpstreamLimit) {
        self.limit = limit
    }

    deinit { giveBack() }

    /// Releases the right early; there is no harm in doing so twice.
    func giveBack() { if isHeld.exchange(false, ordering: .relaxed) { limit.release() } }

    /// Takes the right again after ``giveBack()``, if one is free and no request waits for it.
    func takeAgain() -> Bool {
        guard limit.reserveNow() else { return false }
        isHeld.store(true, ordering: .relaxed)
        return true
    }
}
