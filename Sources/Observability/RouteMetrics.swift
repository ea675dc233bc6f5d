// SPDX-License-Identifier: Apache-2.0

/// One worker's counts for one route.
package struct RouteMetrics: Sendable, Equatable {
    /// The number of responses with one status.
    package struct StatusCount: Sendable, Equatable {
        package let status: Int
        package var count: Int
    }

    /// Responses for each status, in the order in which the statuses first occurred.
    package private(set) var statuses: [StatusCount] = []
    package private(set) var durations = DurationHistogram()
    /// Requests that were sent again.
    package internal(set) var replays = Tally<ReplayResult>()
    /// Responses with which the upstream refused the token.
    package internal(set) var authorizationErrors = Tally<ChallengeError>()
    /// Requests without a complete response, by the failure of the upstream.
    package internal(set) var upstreamFailures = Tally<UpstreamFailureReason>()
    /// Open connections to the upstream.
    package internal(set) var upstreamConnections = Tally<UpstreamConnectionState>()

    /// Responses 401, and 403 for want of a scope, that clients got of the upstream because of our token.
    package internal(set) var tokenRefusals = 0
    /// Error responses of our own from 500 on, by the party to blame.
    package internal(set) var ownFailures = Tally<AnswerBlame>()
    /// Responses with a status below 400 that the upstream broke off.
    package internal(set) var brokenOff = 0
    /// Open event streams and tunnels.
    package internal(set) var openStreams = 0

    mutating func countRequest(status: Int, duration: Duration) {
        add(1, of: status)
        durations.record(duration)
    }

    mutating func endStep() { durations.forgetLongest() }

    mutating func merge(_ other: RouteMetrics) {
        for entry in other.statuses { add(entry.count, of: entry.status) }
        durations.merge(other.durations)
        replays.merge(other.replays)
        authorizationErrors.merge(other.authorizationErrors)
        upstreamFailures.merge(other.upstreamFailures)
        upstreamConnections.merge(other.upstreamConnections)
        tokenRefusals += other.tokenRefusals
        ownFailures.merge(other.ownFailures)
        brokenOff += other.brokenOff
        openStreams += other.openStreams
    }

    /// Adds to the count of a status; a route has few, so a linear search beats a dictionary.
    private mutating func add(_ count: Int, of status: Int) {
        if let index = statuses.firstIndex(where: { $0.status == status }) {
            statuses[index].count += count
        } else {
            statuses.append(StatusCount(status: status, count: count))
        }
    }
}
