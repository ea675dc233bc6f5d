// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
package import BearerdObservability

/// The figures of all routes with one path, and the state of their upstream.
package struct RouteFigures: Equatable, Sendable {
    package typealias Health = UpstreamHealth

    /// Requests since the start.
    package var requests = 0
    /// Answers since the start, by who was to blame.
    package var answers = Tally<AnswerBlame>()
    /// Requests per second in the last minute.
    package var rate = 0.0
    /// The median of the last minute's durations; nil without requests.
    package var median: Duration?
    /// The 99th percentile of the last minute's durations.
    package var slowest: Duration?
    /// Requests that were sent again with another token, since the start.
    package var replays = 0
    /// Event streams and tunnels that are open now.
    package var openStreams = 0
    package var health = Health.unknown

    package init() {}

    /// Reads of a route's entry how its upstream is; nil if the entry does not tell.
    init?(health json: JSONValue) {
        guard let word = json[.upstreamState]?.string else { return nil }
        let reason = json[.reason]?.string ?? "for a reason that is not told"
        switch word {
        case "failing":
            health = .fails(
                reason, refusal: json[.tokenError]?.string.flatMap { ChallengeError(label: $0) })
        case "last_failed": health = .falters(reason)
        case "ok": health = .answers
        default: health = .unknown
        }
    }

    /// The figures' members of a route's entry.
    var json: JSONObject {
        let (word, reason, refusal): (String, String?, ChallengeError?) =
            switch health {
            case .unknown: ("unknown", nil, nil)
            case .answers: ("ok", nil, nil)
            case .falters(let reason): ("last_failed", reason, nil)
            case .fails(let reason, let refusal): ("failing", reason, refusal)
            }
        let answers = AnswerBlame.allCases.map { ($0.label, JSONValue(count: self.answers[$0])) }
        return JSONObject(admin: [
            .requests: JSONValue(count: requests), .answers: .object(JSONObject(members: answers)),
            .rate: .real(rate), .median: median.map { .real($0 / .seconds(1)) } ?? .null,
            .slowest: slowest.map { .real($0 / .seconds(1)) } ?? .null, .replays: JSONValue(count: replays),
            .openStreams: JSONValue(count: openStreams), .upstreamState: .string(word),
            .reason: reason.map(JSONValue.string),
            .tokenError: (refusal?.label).map(JSONValue.string),
        ])
    }
}
