// SPDX-License-Identifier: Apache-2.0

/// The state of a route's upstream, as requests find it.
package enum UpstreamHealth: Equatable, Sendable {
    /// No request has got an answer from it, or failed to, since the start.
    case unknown
    /// It answers, with whatever status.
    case answers
    /// The latest request brought no whole answer, for this reason; too few did to say more.
    case falters(String)
    /// The last minute's answers to clients failed, as the reason counts them.
    ///
    /// - Parameter refusal: the error of the latest one's challenge, where that refuses the token.
    case fails(String, refusal: ChallengeError? = nil)

    /// The worse of two: routes of one name share what is told of them.
    package func worse(_ other: UpstreamHealth) -> UpstreamHealth { rank >= other.rank ? self : other }

    /// True if the route fails by the last minute's answers.
    package var isFailing: Bool { if case .fails = self { true } else { false } }

    private var rank: Int {
        switch self {
        case .unknown: 0
        case .answers: 1
        case .falters: 2
        case .fails: 3
        }
    }
}
