// SPDX-License-Identifier: Apache-2.0

/// A response's verdict on the token that its request carried (RFC 6750 §3).
///
/// | status | the route's `retry_on_status` has it | it asks for another scope | verdict |
/// |---|---|---|---|
/// | 401 | yes | – | refused, worth another token |
/// | 401 | no | – | refused |
/// | 403 | yes | yes: another token would have the same scope | accepted |
/// | any other | yes | – | doubtful, worth another token |
/// | any other | no | – | accepted |
///
/// A refusal of the request's proof alone is no verdict on its token. A gRPC call that is answered with status
/// UNAUTHENTICATED and nothing else counts as a 401.
enum TokenVerdict: Equatable, Sendable {
    /// The upstream did not judge the token (RFC 9449 §9); nobody is told.
    case unjudged
    /// The upstream accepts the token, whatever it thinks of the request.
    case accepted
    /// The response may be about the token; the session is told only if another token could help.
    case doubtful
    /// The upstream refuses the token.
    ///
    /// - Parameter isWorthReplay: true if the request may be sent again with another token.
    case refused(isWorthReplay: Bool)

    /// - Parameters:
    ///   - status: the status of the response.
    ///   - retried: the route's `retry_on_status`.
    ///   - lacksScope: true if the challenge says `insufficient_scope` (RFC 6750 §3.1).
    init(status: Int, retried: Set<Int>, lacksScope: Bool) {
        switch status {
        case 401: self = .refused(isWorthReplay: retried.contains(401))
        case 403 where lacksScope: self = .accepted
        default: self = retried.contains(status) ? .doubtful : .accepted
        }
    }

    /// True if the request may be sent again with another token.
    var isWorthReplay: Bool {
        switch self {
        case .unjudged, .accepted: false
        case .doubtful: true
        case .refused(let isWorthReplay): isWorthReplay
        }
    }

    /// True if the response itself blames the token.
    var isRefusal: Bool {
        if case .refused = self { true } else { false }
    }
}
