// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// How many look at what goes on, each of whom costs a look at everything once a second.
final class Lookers: Sendable {
    private static let most = 16

    private let count = Mutex(0)

    /// Whether one more may look.
    var hasRoom: Bool { count.withLock { $0 < Self.most } }

    /// Lets one more look, if there is room.
    func enter() -> Bool {
        count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
    }

    /// One looks no more.
    func leave() { count.withLock { $0 -= 1 } }
}
