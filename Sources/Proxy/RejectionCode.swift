// SPDX-License-Identifier: Apache-2.0

internal import BearerdObservability

/// The stable code of an error response; programs, logs and traces rely on it.
package enum RejectionCode: String, CaseIterable, Sendable {
    case accessDenied = "access_denied"
    case badRequest = "bad_request"
    case bodyTooLarge = "body_too_large"
    case draining
    case headersTooLarge = "headers_too_large"
    case loginRequired = "login_required"
    case loopDetected = "loop_detected"
    case methodNotAllowed = "method_not_allowed"
    case misconfigured
    case noRoute = "no_route"
    case notImplemented = "not_implemented"
    case policyDenied = "policy_denied"
    case providerUnavailable = "idp_unavailable"
    case rateLimited = "rate_limited"
    case requestTimeout = "request_timeout"
    case upstreamBusy = "upstream_busy"
    case upstreamConnect = "upstream_connect"
    case upstreamProtocol = "upstream_protocol"
    case upstreamTLS = "upstream_tls"
    case upstreamTimeout = "upstream_timeout"
    case uriTooLong = "uri_too_long"
    case versionNotSupported = "version_not_supported"
    case wrongHost = "wrong_host"

    package var status: Int {
        switch self {
        case .badRequest: 400
        case .accessDenied, .policyDenied: 403
        case .noRoute: 404
        case .methodNotAllowed: 405
        case .requestTimeout: 408
        case .bodyTooLarge: 413
        case .uriTooLong: 414
        case .wrongHost: 421
        case .rateLimited: 429
        case .headersTooLarge: 431
        case .notImplemented: 501
        case .upstreamConnect, .upstreamProtocol, .upstreamTLS: 502
        case .draining, .loginRequired, .misconfigured, .providerUnavailable, .upstreamBusy: 503
        case .upstreamTimeout: 504
        case .versionNotSupported: 505
        case .loopDetected: 508
        }
    }

    /// The default error type of `Proxy-Status` (RFC 9209 §2.3), used where the cause tells no better one.
    var proxyStatus: String {
        switch self {
        case .badRequest, .bodyTooLarge, .headersTooLarge, .notImplemented, .requestTimeout, .uriTooLong,
            .versionNotSupported:
            "http_request_error"
        case .accessDenied, .methodNotAllowed, .policyDenied, .rateLimited, .wrongHost: "http_request_denied"
        case .noRoute: "destination_not_found"
        case .loopDetected: "proxy_loop_detected"
        case .draining, .loginRequired, .providerUnavailable: "proxy_internal_error"
        case .misconfigured: "proxy_configuration_error"
        case .upstreamBusy: "connection_limit_reached"
        case .upstreamConnect: "destination_unavailable"
        case .upstreamProtocol: "http_protocol_error"
        case .upstreamTLS: "tls_protocol_error"
        case .upstreamTimeout: "http_response_timeout"
        }
    }

    /// The default for `Retry-After`, used where the cause tells no better one.
    var retryAfter: Duration? {
        switch self {
        case .draining, .rateLimited, .providerUnavailable, .upstreamBusy: .seconds(1)
        case .loginRequired, .misconfigured: .seconds(30)
        case .accessDenied, .badRequest, .bodyTooLarge, .headersTooLarge, .loopDetected, .methodNotAllowed,
            .noRoute, .notImplemented, .policyDenied, .requestTimeout, .upstreamConnect, .upstreamProtocol,
            .upstreamTLS, .upstreamTimeout, .uriTooLong, .versionNotSupported, .wrongHost:
            nil
        }
    }

    /// The party to blame for a 5xx response; nil if the status says so itself.
    var blame: AnswerBlame? {
        switch self {
        case .loginRequired, .misconfigured, .providerUnavailable: .provider
        case .draining, .upstreamBusy: .bearerd
        case .notImplemented, .versionNotSupported, .loopDetected: .client
        case .accessDenied, .badRequest, .bodyTooLarge, .headersTooLarge, .methodNotAllowed, .noRoute,
            .policyDenied, .rateLimited, .requestTimeout, .upstreamConnect, .upstreamProtocol, .upstreamTLS,
            .upstreamTimeout, .uriTooLong, .wrongHost:
            nil
        }
    }
}
