// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A token bucket with room for one second's requests, shared by all workers of one listener.
package final class RateLimit: Sendable {
    private struct Bucket {
        var level: Double
        var filledAt: ContinuousClock.Instant
    }

    private let perSecond: Double
    private let bucket: Mutex<Bucket>

    package init(perSecond: Double, now: ContinuousClock.Instant = .now) {
        self.perSecond = perSecond
        bucket = Mutex(Bucket(level: max(1, perSecond), filledAt: now))
    }

    /// Takes one request from the bucket.
    ///
    /// - Returns: false if the bucket is empty.
    func take(at now: ContinuousClock.Instant) -> Bool {
        bucket.withLock { bucket in
            let elapsed = bucket.filledAt.duration(to: now) / Duration.seconds(1)
            bucket.level = min(max(1, perSecond), bucket.level + max(0, elapsed) * perSecond)
            bucket.filledAt = now
            guard bucket.level >= 1 else { return false }
            bucket.level -= 1
            return true
        }
    }
}
