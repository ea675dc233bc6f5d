// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Limits the open event streams, each of which renders the whole status once a second.
final class EventStreamLimit: Sendable {
    private static let most = 16
    /// The most of one party, which leaves some to the others.
    private static let mostOfOne = 8

    private let counts = Mutex<[String: Int]>([:])

    /// Returns true if one more stream may be opened for `watcher`.
    func hasRoom(for watcher: String) -> Bool { counts.withLock { Self.hasRoom(for: watcher, in: $0) } }

    /// Counts a stream in if there is room.
    func enter(_ watcher: String) -> Bool {
        counts.withLock { counts in
            guard Self.hasRoom(for: watcher, in: counts) else { return false }
            counts[watcher, default: 0] += 1
            return true
        }
    }

    /// Counts a stream out.
    func leave(_ watcher: String) {
        counts.withLock { counts in
            let left = (counts[watcher] ?? 0) - 1
            counts[watcher] = left > 0 ? left : nil
        }
    }

    private static func hasRoom(for watcher: String, in counts: [String: Int]) -> Bool {
        (counts[watcher] ?? 0) < mostOfOne && counts.values.reduce(0, +) < most
    }
}
