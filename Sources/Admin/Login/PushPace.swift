// SPDX-License-Identifier: Apache-2.0

internal import OAuth
internal import Synchronization

/// How often logins may be pushed to a provider (RFC 9126), by identity: each visit of a login's link is a request there.
///
/// As many as can wait: 14 at once and then one in 12 s are 64 in the ten minutes of ``PendingLogins``.
final class PushPace: Sendable {
    private static let interval = Duration.seconds(12)
    private static let burst = 14

    /// When the next one would be due if they came evenly.
    private let due = Mutex<[String: Instant]>([:])
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// Counts one for an identity of the configuration.
    ///
    /// - Returns: nil if it may be; else when it may, and nothing is counted.
    func take(for identity: String) -> Duration? {
        let now = now()
        return due.withLock { due in
            let next = max(due[identity] ?? now, now)
            let wait = now.duration(to: next) - Self.interval * (Self.burst - 1)
            guard wait <= .zero else { return wait }
            due[identity] = next + Self.interval
            return nil
        }
    }

    /// Takes one back that was not pushed.
    func giveBack(for identity: String) {
        due.withLock { $0[identity]? -= Self.interval }
    }
}
