// SPDX-License-Identifier: Apache-2.0

internal import OAuth
internal import Synchronization

/// Limits how often logins are pushed to a provider (RFC 9126), because each visit of a login link is a
/// request there.
///
/// For each identity: 14 at once and then one every 12 s, which makes 64 in the ten minutes of
/// ``PendingLogins``.
final class PushPace: Sendable {
    private static let interval = Duration.seconds(12)
    private static let burst = 14

    /// The moment at which an identity's next push would be due if they came evenly.
    private let due = Mutex<[String: Instant]>([:])
    private let now: @Sendable () -> Instant

    init(now: @escaping @Sendable () -> Instant) {
        self.now = now
    }

    /// Counts a push for an identity.
    ///
    /// - Returns: nil if it is allowed; else the time to wait, and nothing is counted.
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

    /// Uncounts a push that was not made.
    func giveBack(for identity: String) {
        due.withLock { $0[identity]? -= Self.interval }
    }
}
