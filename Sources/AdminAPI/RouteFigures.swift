// SPDX-License-Identifier: Apache-2.0

internal import JSON
package import Observability

/// What goes on at the routes of one path, and how their upstream is.
package struct RouteFigures: Equatable, Sendable {
    /// How an upstream is, as far as requests have told.
    package enum Health: Equatable, Sendable {
        /// Nobody has asked it yet.
        case unknown
        case answers
        /// Why the last request to it failed.
        case fails(String)
    }

    /// Answered since the start.
    package var requests = 0
    /// Answered since the start, by who was to blame.
    package var answers = Tally<AnswerBlame>()
    /// Requests a second, in the last minute.
    package var rate = 0.0
    /// How long half of the last minute's requests took at most; nil where there were none.
    package var median: Duration?
    /// How long 99 of a hundred took at most.
    package var slowest: Duration?
    /// Sent once more with another token, since the start.
    package var replays = 0
    /// Event streams and tunnels that are open now.
    package var openStreams = 0
    package var health = Health.unknown

    private enum Member {
        static let requests = "requests"
        static let answers = "answers"
        static let rate = "requests_per_second"
        static let median = "p50_seconds"
        static let slowest = "p99_seconds"
        static let replays = "replays"
        static let openStreams = "open_streams"
        static let health = "upstream_state"
        static let reason = "upstream_error"
    }

    package init() {}

    /// The members that a route's entry has beside its names.
    var members: [(String, JSONValue)] {
        let word =
            switch health {
            case .unknown: "unknown"
            case .answers: "ok"
            case .fails: "failing"
            }
        var members: [(String, JSONValue)] = [
            (Member.requests, .integer(Int64(requests))),
            (
                Member.answers,
                .object(
                    JSONObject(
                        members: AnswerBlame.allCases.map { ($0.label, .integer(Int64(answers[$0]))) }))
            ),
            (Member.rate, .real(rate)),
            (Member.median, median.map { .real($0 / .seconds(1)) } ?? .null),
            (Member.slowest, slowest.map { .real($0 / .seconds(1)) } ?? .null),
            (Member.replays, .integer(Int64(replays))),
            (Member.openStreams, .integer(Int64(openStreams))),
            (Member.health, .string(word)),
        ]
        if case .fails(let reason) = health { members.append((Member.reason, .string(reason))) }
        return members
    }
}
