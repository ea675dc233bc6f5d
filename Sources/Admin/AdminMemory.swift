// SPDX-License-Identifier: Apache-2.0

package import OAuth
internal import Synchronization

/// The state of the admin listener that outlives a configuration; each configuration has its own
/// ``AdminResponder``.
package struct AdminMemory: Sendable {
    let guesses: KeyGuesses
    let cookies: KeyCookies
    let logins: PendingLogins
    let eventStreams = EventStreamLimit()
    /// The traffic of the last hour.
    package let history: TrafficHistory
    private let configurations = Counter()

    /// Makes an empty memory.
    ///
    /// - Parameter now: the clock of all parts.
    package init(now: @escaping @Sendable () -> Instant = { ContinuousClock.now }) {
        guesses = KeyGuesses(now: now)
        cookies = KeyCookies(now: now)
        logins = PendingLogins(now: now)
        history = TrafficHistory(now: now)
    }

    /// The number of the newest configuration.
    var version: Int { configurations.count.withLock { $0 } }

    /// Notes that another configuration is in force.
    ///
    /// - Returns: its number.
    func nextVersion() -> Int {
        configurations.count.withLock { count in
            count += 1
            return count
        }
    }

    private final class Counter: Sendable {
        let count = Mutex(0)
    }
}
