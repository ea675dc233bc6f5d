// SPDX-License-Identifier: Apache-2.0

/// What one worker counted for one route.
package struct RouteMetrics: Sendable, Equatable {
    /// How often one status was answered.
    package struct StatusCount: Sendable, Equatable {
        package let status: Int
        package var count: Int
    }

    /// Answered requests by exact status; in the order in which the statuses first came.
    package private(set) var statuses: [StatusCount] = []
    /// How long requests took.
    package private(set) var durations = DurationHistogram()
    /// Requests sent a second time.
    package internal(set) var replays = Tally<ReplayResult>()
    /// Answers with which the upstream refused the token.
    package internal(set) var authorizationErrors = Tally<ChallengeError>()
    /// Requests that got no whole answer, by what was wrong with the upstream.
    package internal(set) var upstreamFailures = Tally<UpstreamFailureReason>()
    /// Upstream connections that are open now.
    package internal(set) var upstreamConnections = Tally<UpstreamConnectionState>()

    /// Answers of our own with a status of 500 and above, by who was to blame.
    package internal(set) var ownFailures = Tally<AnswerBlame>()
    /// Event streams and tunnels that are open now.
    package internal(set) var openStreams = 0

    mutating func countRequest(status: Int, duration: Duration) {
        add(1, of: status)
        durations.record(duration)
    }

    mutating func merge(_ other: RouteMetrics) {
        for entry in other.statuses { add(entry.count, of: entry.status) }
        durations.merge(other.durations)
        replays.merge(other.replays)
        authorizationErrors.merge(other.authorizationErrors)
        upstreamFailures.merge(other.upstreamFailures)
        upstreamConnections.merge(other.upstreamConnections)
        ownFailures.merge(other.ownFailures)
        openStreams += other.openStreams
    }

    /// A route answers with few different statuses, so a walk through those beats a dictionary.
    private mutating func add(_ count: Int, of status: Int) {
        if let index = statuses.firstIndex(where: { $0.status == status }) {
            statuses[index].count += count
        } else {
            statuses.append(StatusCount(status: status, count: count))
        }
    }
}
