// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPExchange

/// The reason why a request gets no response from its upstream.
package enum ProxyError: Error, Equatable, Sendable {
    // Rejecting: the client's request is at fault.
    case malformedRequest(MessageFault)
    case unencryptedRequest
    case ambiguousPath
    case accessDenied(Denial)
    case wrongHost
    case noRoute
    case methodNotAllowed
    /// CONNECT, TRACE or TRACK, which no route passes on.
    case methodRefused
    /// A tunnel to a host that a route names: what goes through it could get no token.
    case tunnelRefused
    /// A tunnel of a protocol that the route does not pass on, or the upstream does not take.
    case tunnelUnknown
    /// No rule of the route allows the request.
    ///
    /// - Parameter hasOddSegment: true if the path has an empty or dot segment, which no rule can allow.
    case policyDenied(hasOddSegment: Bool)
    /// The head, or more of the content, did not come in time.
    case requestTimedOut(isHead: Bool)
    case bodyTooLarge
    case rateLimited
    case loopDetected

    // Failing: no token could be had.
    case loginRequired
    case misconfigured(retryAfter: Duration?)
    case providerUnavailable(retryAfter: Duration?)
    /// The store of the sessions is away, and nobody asks the provider meanwhile.
    case storeUnavailable(retryAfter: Duration?)

    // Failing: the upstream could not be reached or understood.
    case upstreamUnavailable(UpstreamError)
    /// The upstream took none of the content that waited for it, and did not answer.
    case uploadTimedOut
    case upstreamTimedOut
    /// The upstream's answer has begun, and nothing more of it came.
    case answerTimedOut
    case upstreamProtocol
    /// The upstream's response is HTTP, and no message that is accepted.
    case upstreamMalformed(MessageFault)
    /// The connection to the upstream ended inside the head of a response.
    case upstreamHeadCut
    /// The connection to the upstream ended before a response.
    case upstreamClosed
    /// The connection to the upstream was ended before a response, because nothing came on it, not even an answer to a PING.
    case upstreamSilent
    /// The connection to the upstream was ended here, because it sent more of a kind, told in words, than anybody needs to.
    case upstreamFlood(of: String)
    /// The upstream ended the request's exchange, and not its connection, before a response.
    case upstreamReset

    /// A reload took the route away, or the access to it.
    case revoked(isRouteGone: Bool)
    /// The process ends, and does not wait any longer.
    case draining
    /// The client has left; there is nobody to answer.
    case clientGone

    /// The protection that denied a request.
    package enum Denial: Equatable, Sendable {
        case peer
        /// The client's certificate would no longer be accepted, because the trusted authorities have
        /// changed.
        case certificate
        /// None of the names in the client's certificate is one of `tls.client_allow`.
        case certificateName
        /// The route has identities for other users only.
        case user
        case key
        /// The calling page's `Origin` is not allowed.
        case origin
        /// The calling page's `Referer` shows an origin that is not allowed.
        case referer
        /// The browser says that a page of another site calls, without its origin.
        case site
        case authorizationHeader
        /// The caller sent no bearer token of its own that could be exchanged.
        case noCallerToken
        /// The provider refuses to exchange the caller's token.
        case callerToken
    }
}
