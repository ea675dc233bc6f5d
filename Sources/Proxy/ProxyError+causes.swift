// SPDX-License-Identifier: Apache-2.0

internal import HTTPClient
internal import OAuth

extension ProxyError {
    /// Why there is no token, as a client may know it.
    init(_ error: TokenError) {
        switch error {
        case .loginRequired: self = .loginRequired
        case .misconfigured(let retryAfter): self = .misconfigured(retryAfter: retryAfter)
        case .unavailable(let retryAfter): self = .providerUnavailable(retryAfter: retryAfter)
        case .cancelled: self = .clientGone
        }
    }
}

extension ProxyError {
    /// Why there is no connection to the upstream.
    init(_ error: UpstreamError) {
        switch error {
        case .connectionRefused: self = .upstreamRefused
        case .connectionTimeout: self = .upstreamConnectTimedOut
        case .dnsError: self = .upstreamUnresolved
        case .dnsTimeout: self = .upstreamConnectTimedOut
        case .tlsCertificate(let fault): self = .upstreamCertificate(fault)
        case .tlsHandshake, .clientCertificate: self = .upstreamTLS
        case .busy: self = .upstreamBusy
        case .unreachable, .proxyFailed, .noDescriptors, .other: self = .upstreamConnectFailed
        case .cancelled: self = .clientGone
        }
    }
}
