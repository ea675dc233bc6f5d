// SPDX-License-Identifier: Apache-2.0

/// The reason why a request was refused before it was forwarded (`bearerd_denied_total`).
package enum DenialReason: Int, MetricLabel {
    /// No TLS connection was made: the client does not speak TLS, or has no valid certificate.
    case tls
    /// The user at a Unix socket is not in `access.peer_uids`, or not among those of the route.
    case peer
    /// The `Host` is not in `access.hosts`.
    case host
    /// The `Origin` or `Sec-Fetch-Site` shows another site.
    case origin
    /// `X-Bearerd-Key` is missing or wrong.
    case key
    /// The client sent `Authorization` to a route with `authorization: reject`.
    case authorization
    /// `limits.requests_per_second` is used up.
    case rate
    /// No rule of `routes[].allow` matches the request.
    case policy
    /// A connection over HTTP/2 was ended for what its client sent.
    case flood

    package var label: String {
        switch self {
        case .tls: "tls"
        case .peer: "peer"
        case .host: "host"
        case .origin: "origin"
        case .key: "key"
        case .authorization: "authorization"
        case .rate: "rate"
        case .policy: "policy"
        case .flood: "flood"
        }
    }
}

/// The result of sending a request again (`bearerd_replays_total`).
package enum ReplayResult: Int, MetricLabel {
    /// The upstream accepted the new token.
    case accepted
    /// The upstream refused the new token too.
    case refused
    /// No second response came.
    case failed

    package var label: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .failed: "failed"
        }
    }
}

/// The `error` of a `WWW-Authenticate: Bearer` challenge (RFC 6750 §3.1), as a closed set.
package enum ChallengeError: Int, MetricLabel {
    case invalidToken
    case insufficientScope
    case invalidRequest
    /// A code that RFC 6750 does not define.
    case other
    /// A challenge without a code, or no challenge.
    case none

    package var label: String {
        switch self {
        case .invalidToken: "invalid_token"
        case .insufficientScope: "insufficient_scope"
        case .invalidRequest: "invalid_request"
        case .other: "other"
        case .none: "none"
        }
    }

    /// The value under which a challenge's code is counted; nil stands for a challenge without one.
    package init(code: String?) {
        guard let code else {
            self = .none
            return
        }
        let known: [ChallengeError] = [.invalidToken, .insufficientScope, .invalidRequest]
        self = known.first { $0.label == code } ?? .other
    }

    /// The value that is labelled so; nil if none is.
    package init?(label: String) {
        guard let value = Self.allCases.first(where: { $0.label == label }) else { return nil }
        self = value
    }
}

/// The state of an upstream connection (`bearerd_upstream_connections`).
package enum UpstreamConnectionState: Int, MetricLabel {
    /// Resolving the name, connecting, or in the TLS handshake.
    case connecting
    /// Carrying a request.
    case active
    /// Kept for the next request.
    case idle

    package var label: String {
        switch self {
        case .connecting: "connecting"
        case .active: "active"
        case .idle: "idle"
        }
    }
}

/// The reason why a request got no complete response from its upstream (`bearerd_upstream_failures_total`).
package enum UpstreamFailureReason: Int, MetricLabel {
    /// Nothing listens at the address.
    case refused
    /// There is no route to the address, or the Unix socket does not exist.
    case unreachable
    /// The name has no address, or the name servers do not answer.
    case names
    /// Connecting took longer than `timeouts.connect`.
    case connectTimeout
    /// The certificate does not verify.
    case certificate
    /// The TLS handshake failed for another reason.
    case tls
    /// The forward proxy did not let the connection through.
    case proxy
    /// The process has no descriptor left.
    case descriptors
    /// The system has no thread left.
    case threads
    /// The connection ended before the response began.
    case closed
    /// The response is not HTTP.
    case malformed
    /// The response broke off.
    case truncated
    /// The response did not come in time, or stalled.
    case timeout
    case other

    package var label: String {
        switch self {
        case .refused: "refused"
        case .unreachable: "unreachable"
        case .names: "dns"
        case .connectTimeout: "connect_timeout"
        case .certificate: "certificate"
        case .tls: "tls"
        case .proxy: "proxy"
        case .descriptors: "descriptors"
        case .threads: "threads"
        case .closed: "closed"
        case .malformed: "malformed"
        case .truncated: "truncated"
        case .timeout: "timeout"
        case .other: "other"
        }
    }
}
