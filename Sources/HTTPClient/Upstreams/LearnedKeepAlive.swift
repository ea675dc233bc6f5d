// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop

/// Learns from an upstream's behaviour how long it keeps an idle connection open.
///
/// A request that may not be sent twice must not meet a connection that its upstream is just closing. It
/// therefore takes none that has been idle for half of the learned time. If an upstream closes at once again
/// and again, each such request gets a new connection. What was learned is forgotten when a connection
/// disproves it, or after a minute without confirmation.
package struct LearnedKeepAlive: Sendable {
    /// An end this soon after a response belongs to the response and not to idleness.
    private static let haste = Duration.milliseconds(100)
    /// A connection that served more requests may have ended because of their number, which is rare and
    /// ignored.
    private static let fewRequests = 50
    /// How long one observation counts.
    private static let memory = Duration.seconds(60)

    private var end: (after: Duration, seenAt: CoarseInstant)?

    package init() {}

    /// True if an upstream has ended a connection, and none has disproved it.
    var knowsEnd: Bool { end != nil }

    /// The longest idle time of a connection for a request that may not be sent twice; nil if nothing is
    /// known.
    package func limit(at now: CoarseInstant) -> Duration? {
        guard let end, now.duration(since: end.seenAt) < Self.memory else { return nil }
        return end.after / 2
    }

    /// Notes that the upstream ended a connection.
    ///
    /// - Parameters:
    ///   - idle: how long the connection had been idle.
    ///   - requestsServed: the number of requests that the connection had carried.
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

    /// Notes that a connection is still open.
    ///
    /// - Parameter idle: how long the connection has been idle.
    package mutating func sawLife(after idle: Duration) {
        if let known = end, idle >= max(known.after * 2, .seconds(2)) { end = nil }
    }

    /// The longest idle time under an announced limit (`Keep-Alive: timeout=`): a second less, for data on
    /// its way, but at least half of it.
    package static func limit(announced timeout: Duration) -> Duration {
        max(timeout - .seconds(1), timeout / 2)
    }
}
