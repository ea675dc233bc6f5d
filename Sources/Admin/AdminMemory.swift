// SPDX-License-Identifier: Apache-2.0

package import OAuth
internal import Synchronization

/// What the admin listener remembers from one configuration to the next: each has an ``AdminResponder`` of its own.
package struct AdminMemory: Sendable {
    let guesses: KeyGuesses
    let cookies: KeyCookies
    let logins: PendingLogins
    let lookers = Lookers()
    /// What went through in the last hour.
    package let history: TrafficHistory
    private let configurations = Counter()

    /// Remembers nothing yet.
    ///
    /// - Parameter now: the clock that everything in it goes by.
    package init(now: @escaping @Sendable () -> Instant = { ContinuousClock.now }) {
        guesses = KeyGuesses(now: now)
        cookies = KeyCookies(now: now)
        logins = PendingLogins(now: now)
        history = TrafficHistory(now: now)
    }

    /// The number of the newest configuration.
    var version: Int { configurations.count.withLock { $0 } }

    /// Another configuration is in force from here on.
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
