// SPDX-License-Identifier: Apache-2.0

/// What an answer says of the token that its request carried (RFC 6750 §3).
///
/// | status | the route's `retry_on_status` has it | it asks for another scope | verdict |
/// |---|---|---|---|
/// | 401 | yes | – | refused, worth another token |
/// | 401 | no | – | refused |
/// | 403 | yes | yes: another token would have the same scope | accepted |
/// | any other | yes | – | doubtful, worth another token |
/// | any other | no | – | accepted |
///
/// A refusal that is about the request's proof alone, and not about its token, is no verdict at all.
enum TokenVerdict: Equatable, Sendable {
    /// The upstream has not come to look at the token (RFC 9449 §9): nobody is told anything.
    case unjudged
    /// The upstream takes the token, whatever it thinks of the request.
    case accepted
    /// It may be about the token: nobody is told, but for a refusal that another token mends.
    case doubtful
    /// The upstream does not take the token.
    ///
    /// - Parameter isWorthReplay: whether the request may be sent once more with another token.
    case refused(isWorthReplay: Bool)

    /// - Parameters:
    ///   - status: of the answer.
    ///   - retried: the statuses that are worth another token.
    ///   - lacksScope: whether the answer's challenge says `insufficient_scope` (RFC 6750 §3.1).
    init(status: Int, retried: Set<Int>, lacksScope: Bool) {
        switch status {
        case 401: self = .refused(isWorthReplay: retried.contains(401))
        case 403 where lacksScope: self = .accepted
        default: self = retried.contains(status) ? .doubtful : .accepted
        }
    }

    /// Whether the request may be sent once more with another token.
    var isWorthReplay: Bool {
        switch self {
        case .unjudged, .accepted: false
        case .doubtful: true
        case .refused(let isWorthReplay): isWorthReplay
        }
    }

    /// Whether the answer itself says that the token is at fault.
    var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}
