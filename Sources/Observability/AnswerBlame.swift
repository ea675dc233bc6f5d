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

    /// - Parameters:
    ///   - status: the status of a response that came from the upstream.
    ///   - hasIdentity: true if bearerd added the token.
    fileprivate init(status: Int, hasIdentity: Bool) {
        switch status {
        case 401: self = hasIdentity ? .provider : .client
        case 400..<500: self = .client
        case 500...: self = .upstream
        default: self = .nobody
        }
    }
}

extension RouteMetrics {
    /// The responses so far, by the party to blame.
    ///
    /// - Parameter hasIdentity: true if bearerd added the token.
    package func answers(hasIdentity: Bool) -> Tally<AnswerBlame> {
        var answers = Tally<AnswerBlame>()
        for entry in statuses {
            answers[AnswerBlame(status: entry.status, hasIdentity: hasIdentity)] += entry.count
        }
        // The token lacks a scope that the upstream asks for, which is nothing that the client could mend.
        if hasIdentity {
            let forbidden = statuses.first { $0.status == 403 }?.count ?? 0
            let lacking = min(authorizationErrors[.insufficientScope], forbidden)
            answers[.provider] += lacking
            answers[.client] -= lacking
        }
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
