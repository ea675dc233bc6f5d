// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdObservability

extension DenialReason {
    /// The reason under which a failure is counted; nil if nothing was denied.
    init?(_ error: ProxyError) {
        switch error {
        case .unencryptedRequest: self = .tls
        case .wrongHost: self = .host
        case .rateLimited: self = .rate
        case .policyDenied: self = .policy
        case .accessDenied(let denial):
            self =
                switch denial {
                case .peer, .user: .peer
                case .certificate, .certificateName: .tls
                case .key: .key
                case .origin, .referer, .site: .origin
                case .authorizationHeader, .noCallerToken, .callerToken: .authorization
                }
        case .malformedRequest, .ambiguousPath, .noRoute, .methodNotAllowed, .methodRefused, .tunnelRefused,
            .tunnelUnknown, .requestTimedOut,
            .bodyTooLarge, .draining, .loopDetected, .loginRequired, .misconfigured, .providerUnavailable,
            .storeUnavailable, .upstreamUnavailable,
            .uploadTimedOut, .upstreamTimedOut, .answerTimedOut, .upstreamProtocol, .upstreamMalformed,
            .upstreamHeadCut, .upstreamClosed, .upstreamSilent, .upstreamReset, .upstreamFlood, .revoked,
            .clientGone:
            return nil
        }
    }
}
