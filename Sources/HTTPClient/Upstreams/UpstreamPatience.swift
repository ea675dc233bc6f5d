// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// How long an upstream keeps a connection on which nothing happens, learned from what it does.
///
/// A request that may not be sent twice must not meet a connection that its upstream closes in the same moment: so it
/// takes none that has been idle for half as long as the upstream was seen to wait. An upstream that closes at once,
/// again and again, gets a fresh connection for each such request. What was learned is forgotten when a connection
/// proves it wrong, or when nothing has confirmed it for a minute.
package struct UpstreamPatience: Sendable {
    /// An end this soon after an answer belongs to the answer, and to no idle time.
    private static let haste = Duration.milliseconds(100)
    /// A connection that served more requests may have ended for their number: that is too seldom to heed.
    private static let fewRequests = 50
    /// How long one observation counts.
    private static let memory = Duration.seconds(60)

    private var end: (after: Duration, seenAt: CoarseInstant)?

    package init() {}

    /// How long a connection may have been idle to carry a request that may not be sent twice; nil if nothing is known.
    package func limit(at now: CoarseInstant) -> Duration? {
        guard let end, now.duration(since: end.seenAt) < Self.memory else { return nil }
        return end.after / 2
    }

    /// Heeds that the upstream ended a connection.
    ///
    /// - Parameters:
    ///   - idle: how long nothing had happened on it.
    ///   - requestsServed: in its life.
    package mutating func sawEnd(after idle: Duration, requestsServed: Int, at now: CoarseInstant) {
        let after = idle < Self.haste ? .zero : idle
        guard after > .zero || requestsServed < Self.fewRequests else { return }
        if let known = end, now.duration(since: known.seenAt) < Self.memory, known.after < after {
            // Nearly as soon is a confirmation; much later says nothing about how soon it may be.
            guard after <= known.after * 3 / 2 else { return }
            return end = (known.after, now)
        }
        end = (after, now)
    }

    /// Heeds that a connection is still there.
    ///
    /// - Parameter idle: how long nothing has happened on it.
    package mutating func sawLife(after idle: Duration) {
        if let known = end, idle >= max(known.after * 2, .seconds(2)) { end = nil }
    }

    /// How long a connection may have been idle whose upstream has announced that it waits for `timeout`
    /// (`Keep-Alive: timeout=`): a second less, for what is under way, but half of it where that is more.
    package static func limit(announced timeout: Duration) -> Duration {
        max(timeout - .seconds(1), timeout / 2)
    }
}
