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
        self = error == .cancelled ? .clientGone : .upstreamUnavailable(error)
    }
}
