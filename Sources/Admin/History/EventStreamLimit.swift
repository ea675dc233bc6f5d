// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits the open event streams, each of which renders the whole status once a second.
final class EventStreamLimit: Sendable {
    private static let most = 16

    private let count = Mutex(0)

    /// True if one more stream may be opened.
    var hasRoom: Bool { count.withLock { $0 < Self.most } }

    /// Counts a stream in if there is room.
    func enter() -> Bool {
        count.withLock { count in
            guard count < Self.most else { return false }
            count += 1
            return true
        }
    }

    /// Counts a stream out.
    func leave() { count.withLock { $0 -= 1 } }
}
