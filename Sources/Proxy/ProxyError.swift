// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

/// Why a request gets no answer from its upstream.
package enum ProxyError: Error, Equatable, Sendable {
    // Rejecting: the client's request is at fault.
    case malformedRequest(MessageFault)
    case unencryptedRequest
    case ambiguousPath
    case accessDenied(Denial)
    case wrongHost
    case noRoute
    case methodNotAllowed
    /// No rule of the route allows what is asked for.
    ///
    /// - Parameter hasOddSegment: whether none could, for a segment of the path.
    case policyDenied(hasOddSegment: Bool)
    case requestTimedOut
    case bodyTooLarge
    case rateLimited
    case loopDetected

    // Failing: no token could be had.
    case loginRequired
    case misconfigured(retryAfter: Duration?)
    case providerUnavailable(retryAfter: Duration?)

    // Failing: the upstream could not be reached or understood.
    case upstreamUnavailable(UpstreamError)
    case upstreamTimedOut
    case upstreamProtocol
    case upstreamClosed

    /// The client has gone; nobody is left to answer.
    case clientGone

    /// Which protection turned a request away.
    package enum Denial: Equatable, Sendable {
        case peer
        /// Its connection would not be taken any more: another authority vouches for clients.
        case certificate
        /// The route has identities for other users.
        case user
        case key
        /// The page's origin may not call.
        case origin
        /// So says the `Referer`.
        case referer
        /// The browser says that it is a page of another site, and not of which.
        case site
        case authorizationHeader
        /// The caller brought no bearer token of its own to be exchanged.
        case noCallerToken
        /// The provider does not exchange the caller's own token.
        case callerToken
    }
}
