// SPDX-License-Identifier: Apache-2.0

internal import HTTPClient
internal import HTTPExchange
package import HTTPMessages

/// An answer of bearerd's own: the one place where a failure becomes a status (RFC 9110 15.5, 15.6).
package struct Rejection: Equatable, Sendable {
    package let status: Int
    /// The stable name that programs may rely on.
    package let code: String
    /// For people; of what a client or a provider sent it holds at most a name in plain letters.
    package let detail: String
    /// The error type of `Proxy-Status` (RFC 9209 2.3), where one fits.
    package let proxyStatus: String
    /// For `Retry-After`.
    package var retryAfter: Duration?

    private init(
        _ status: Int, _ code: String, _ detail: String, proxyStatus: String, retryAfter: Duration? = nil
    ) {
        self.status = status
        self.code = code
        self.detail = detail
        self.proxyStatus = proxyStatus
        self.retryAfter = retryAfter
    }

    /// - Parameters:
    ///   - identity: whose token the route carries.
    ///   - fields: of the request.
    /// - Returns: `nil` when there is nobody to answer.
    package init?(_ error: ProxyError, identity: String?, fields: HTTPFields = HTTPFields()) {
        switch error {
        case .malformedRequest(let reason):
            self.init(malformed: reason)
        case .unencryptedRequest:
            self.init(
                400, "bad_request", "The request came as plain HTTP, and this listener speaks HTTPS.",
                proxyStatus: "http_request_error")
        case .ambiguousPath:
            self.init(
                400, "bad_request", "The path means one thing as sent and another once normalised.",
                proxyStatus: "http_request_error")
        case .accessDenied(.peer):
            self.init(
                403, "access_denied", "This user may not use the listener.",
                proxyStatus: "http_request_denied")
        case .accessDenied(.key):
            self.init(
                403, "access_denied", "The header X-Bearerd-Key is missing or wrong.",
                proxyStatus: "http_request_denied")
        case .accessDenied(.origin):
            self.init(
                403, "access_denied", RefusedCaller.origin(fields.onlyValue(of: .origin)),
                proxyStatus: "http_request_denied")
        case .accessDenied(.referer):
            let origin = fields.onlyValue(of: .referer).flatMap(AccessPolicy.origin(ofReferer:))
            self.init(403, "access_denied", RefusedCaller.origin(origin), proxyStatus: "http_request_denied")
        case .accessDenied(.site):
            self.init(
                403, "access_denied",
                "The request comes from a page of another origin and does not say which: only one whose Origin is in access.origins may call.",
                proxyStatus: "http_request_denied")
        case .accessDenied(.authorizationHeader):
            self.init(
                403, "access_denied", "This route takes no Authorization header from clients.",
                proxyStatus: "http_request_denied")
        case .wrongHost:
            self.init(
                421, "wrong_host", RefusedCaller.host(fields[.host]), proxyStatus: "http_request_denied")
        case .noRoute:
            self.init(404, "no_route", "No route has this path.", proxyStatus: "destination_not_found")
        case .methodNotAllowed:
            self.init(
                405, "method_not_allowed", "The route does not take this method.",
                proxyStatus: "http_request_denied")
        case .policyDenied:
            self.init(
                403, "policy_denied", "The route's rules do not allow this method and path.",
                proxyStatus: "http_request_denied")
        case .requestTimedOut:
            self.init(
                408, "request_timeout", "The request did not arrive in time.",
                proxyStatus: "http_request_error")
        case .bodyTooLarge:
            self.init(
                413, "body_too_large", "The body is larger than limits.body_bytes.",
                proxyStatus: "http_request_error")
        case .rateLimited:
            self.init(
                429, "rate_limited", "More requests than limits.requests_per_second.",
                proxyStatus: "http_request_denied", retryAfter: .seconds(1))
        case .loopDetected:
            self.init(
                508, "loop_detected", "The request has come through bearerd five times.",
                proxyStatus: "proxy_loop_detected")
        case .loginRequired:
            let command = ["bearerd login", identity].compactMap(\.self).joined(separator: " ")
            self.init(
                503, "login_required", "Somebody must log in: run '\(command)'.",
                proxyStatus: "proxy_internal_error", retryAfter: .seconds(30))
        case .misconfigured(let retryAfter):
            self.init(
                503, "misconfigured",
                "The identity provider refuses this configuration; see 'bearerd status'.",
                proxyStatus: "proxy_configuration_error", retryAfter: retryAfter ?? .seconds(30))
        case .providerUnavailable(let retryAfter):
            self.init(
                503, "idp_unavailable", "The identity provider gave no token.",
                proxyStatus: "proxy_internal_error", retryAfter: retryAfter ?? .seconds(1))
        case .upstreamUnavailable(.cancelled):
            return nil
        case .upstreamUnavailable(let reason):
            self.init(unavailable: reason)
        case .upstreamTimedOut:
            self.init(
                504, "upstream_timeout", "The upstream took longer than timeouts.first_byte.",
                proxyStatus: "http_response_timeout")
        case .upstreamProtocol:
            self.init(
                502, "upstream_protocol", "The upstream's answer is not HTTP.",
                proxyStatus: "http_protocol_error")
        case .upstreamClosed:
            self.init(
                502, "upstream_protocol", "The upstream closed the connection before it had answered.",
                proxyStatus: "connection_terminated")
        case .clientGone:
            return nil
        }
    }

    /// Why there is no connection: told without where the upstream is.
    private init(unavailable reason: UpstreamError) {
        switch reason {
        case .connectionRefused:
            self.init(
                502, "upstream_connect", "The upstream refused the connection.",
                proxyStatus: "connection_refused")
        case .dnsError:
            self.init(
                502, "upstream_connect", "The upstream's name has no address.", proxyStatus: "dns_error")
        case .dnsTimeout:
            self.init(
                504, "upstream_timeout", "The name servers did not answer within timeouts.connect.",
                proxyStatus: "dns_timeout")
        case .connectionTimeout:
            self.init(
                504, "upstream_timeout", "Connecting to the upstream took longer than timeouts.connect.",
                proxyStatus: "connection_timeout")
        case .tlsCertificate(let fault):
            self.init(
                502, "upstream_tls", "The upstream's certificate does not verify: \(fault.reason).",
                proxyStatus: "tls_certificate_error")
        case .tlsHandshake:
            self.init(
                502, "upstream_tls", "The TLS handshake with the upstream failed.",
                proxyStatus: "tls_protocol_error")
        case .clientCertificate:
            self.init(
                502, "upstream_tls", "The route's client certificate or its key cannot be used.",
                proxyStatus: "tls_protocol_error")
        case .proxyFailed:
            self.init(
                502, "upstream_connect", "The proxy did not let us through to the upstream.",
                proxyStatus: "destination_unavailable")
        case .busy:
            self.init(
                503, "upstream_busy", "All of limits.upstream_connections are in use.",
                proxyStatus: "connection_limit_reached", retryAfter: .seconds(1))
        case .noDescriptors:
            self.init(
                503, "upstream_busy", "No descriptor is left for a connection: raise LimitNOFILE=.",
                proxyStatus: "connection_limit_reached", retryAfter: .seconds(1))
        case .noThreads:
            self.init(
                503, "upstream_busy",
                "No thread is left to ask for the upstream's name with: raise TasksMax= or pids.max.",
                proxyStatus: "connection_limit_reached", retryAfter: .seconds(1))
        case .unreachable, .cancelled, .other:
            self.init(
                502, "upstream_connect", "The upstream cannot be reached.",
                proxyStatus: "destination_unavailable")
        }
    }

    private init(malformed fault: MessageFault) {
        let (code, detail) =
            switch fault {
            case .malformed: ("bad_request", "The request is not well-formed HTTP.")
            case .targetTooLong:
                ("uri_too_long", "The request target is longer than limits.uri_bytes.")
            case .headTooLarge:
                ("headers_too_large", "The request head is larger than limits.header_bytes.")
            case .methodTooLong: ("not_implemented", "The method is longer than any that is known.")
            case .unknownCoding: ("not_implemented", "The transfer coding is unknown.")
            case .unsupportedVersion:
                ("version_not_supported", "HTTP/1.0 and HTTP/1.1 are spoken here.")
            }
        self.init(fault.status, code, detail, proxyStatus: "http_request_error")
    }

    /// The head of the answer and its body, `application/problem+json` (RFC 9457).
    package func message() -> (head: HTTPResponse, body: [UInt8]) {
        let problem = Problem(status: status, code: code, detail: detail)
        let bytes = problem.body
        var head = problem.head
        head.fields[.contentLength] = String(bytes.count)
        head.fields[.cacheControl] = "no-store"
        head.fields[.proxyStatus] = "bearerd; error=\(proxyStatus)"
        if let retryAfter {
            head.fields[.retryAfter] = String(
                max(1, retryAfter.components.seconds + (retryAfter.components.attoseconds > 0 ? 1 : 0)))
        }
        return (head, bytes)
    }
}

extension HTTPFields {
    /// The value of the one field of that name; nil where there are several.
    fileprivate func onlyValue(of name: Name) -> String? { count(of: name) == 1 ? self[name] : nil }
}
