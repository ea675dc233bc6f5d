// SPDX-License-Identifier: Apache-2.0

/// The party to blame for a response, if any.
package enum AnswerBlame: Int, MetricLabel {
    /// The response is what was asked for.
    case nobody
    /// The client asked for something that it may not have, or left.
    case client
    /// bearerd had no capacity, or was stopping.
    case bearerd
    /// There was no token, for whatever reason, or one that the upstream refused.
    case provider
    /// The upstream failed, or could not be reached.
    case upstream

    package var label: String {
        switch self {
        case .nobody: "ok"
        case .client: "client"
        case .bearerd: "bearerd"
        case .provider: "provider"
        case .upstream: "upstream"
        }
    }

    /// - Parameter status: the status of a response that came from the upstream.
    fileprivate init(status: Int) {
        switch status {
        case 400..<500: self = .client
        case 500...: self = .upstream
        default: self = .nobody
        }
    }
}

extension RouteMetrics {
    /// The responses so far, by the party to blame.
    package var answers: Tally<AnswerBlame> {
        var answers = Tally<AnswerBlame>()
        for entry in statuses { answers[AnswerBlame(status: entry.status)] += entry.count }
        // A token that is refused, or lacks a scope that the upstream asks for, is nothing that the client could mend.
        // An answer that is still being sent is among the refusals already.
        let refusals = min(
            tokenRefusals, statuses.reduce(0) { [401, 403].contains($1.status) ? $0 + $1.count : $0 })
        answers[.provider] += refusals
        answers[.client] -= refusals
        // `answers` counts our own 5xx as the upstream's; they are moved to whoever caused them.
        for blame in AnswerBlame.allCases where blame != .upstream {
            answers[blame] += ownFailures[blame]
            answers[.upstream] -= ownFailures[blame]
        }
        answers[.upstream] += brokenOff
        answers[.nobody] -= brokenOff
        return answers
    }
}
