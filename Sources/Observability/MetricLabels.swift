// SPDX-License-Identifier: Apache-2.0

/// Why a request was refused before it was sent on (`bearerd_denied_total`).
package enum DenialReason: Int, MetricLabel {
    /// There was no TLS connection: a client that speaks something else, or without a certificate that counts.
    case tls
    /// The user behind a Unix socket is not in `access.peer_uids`, or not among those of the route.
    case peer
    /// The `Host` is not in `access.hosts`.
    case host
    /// The `Origin`, or `Sec-Fetch-Site`, is of another site.
    case origin
    /// `X-Bearerd-Key` is missing or wrong.
    case key
    /// The client sent its own `Authorization` to a route with `authorization: reject`.
    case authorization
    /// `limits.requests_per_second` is used up.
    case rate
    /// No rule of `routes[].allow` is about the request.
    case policy

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
        }
    }
}

/// How the second sending of a request ended (`bearerd_replays_total`).
package enum ReplayResult: Int, MetricLabel {
    /// The upstream took the new token.
    case accepted
    /// The upstream refused the new token as well.
    case refused
    /// The second answer never came.
    case failed

    package var label: String {
        switch self {
        case .accepted: "accepted"
        case .refused: "refused"
        case .failed: "failed"
        }
    }
}

/// The `error` of a `WWW-Authenticate: Bearer` challenge (RFC 6750 section 3.1), made a closed set.
package enum ChallengeError: Int, MetricLabel {
    case invalidToken
    case insufficientScope
    case invalidRequest
    /// A code that RFC 6750 does not know.
    case other
    /// A challenge without a code, or no challenge at all.
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

    /// What the code of a challenge is counted as; nil when it has none.
    package init(code: String?) {
        guard let code else {
            self = .none
            return
        }
        let known: [ChallengeError] = [.invalidToken, .insufficientScope, .invalidRequest]
        self = known.first { $0.label == code } ?? .other
    }
}

/// What an upstream connection is doing (`bearerd_upstream_connections`).
package enum UpstreamConnectionState: Int, MetricLabel {
    /// Names, connect, TLS.
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

/// Why a request got no whole answer from its upstream (`bearerd_upstream_failures_total`).
package enum UpstreamFailureReason: Int, MetricLabel {
    /// Nobody listens there.
    case refused
    /// No route leads there, or the Unix socket does not exist.
    case unreachable
    /// The name has no address, or the name servers are silent.
    case names
    /// Connecting took longer than `timeouts.connect`.
    case connectTimeout
    /// The certificate does not verify.
    case certificate
    /// The TLS handshake failed for another reason.
    case tls
    /// The proxy on the way let nothing through.
    case proxy
    /// This process had no descriptor left.
    case descriptors
    /// The system had no thread left.
    case threads
    /// The connection ended before the answer had begun.
    case closed
    /// The answer is no HTTP.
    case malformed
    /// The answer broke off.
    case truncated
    /// The answer did not come in time, or stalled.
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
