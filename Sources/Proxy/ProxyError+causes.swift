// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange
internal import OAuth

extension ProxyError {
    /// Translates the reason for a missing token into the failure that a client is told.
    init(_ error: TokenError) {
        switch error {
        case .loginRequired: self = .loginRequired
        case .misconfigured(let retryAfter): self = .misconfigured(retryAfter: retryAfter)
        case .unavailable(let retryAfter): self = .providerUnavailable(retryAfter: retryAfter)
        case .storeUnavailable(let retryAfter): self = .storeUnavailable(retryAfter: retryAfter)
        // A session that was ended while somebody still waited for it.
        case .cancelled, .stopped: self = .providerUnavailable(retryAfter: nil)
        }
    }
}

extension ProxyError {
    /// Translates a failure to receive the client's content.
    init(receiving error: MessageError) {
        switch error {
        case .malformed(let fault): self = .malformedRequest(fault)
        case .bodyTooLarge: self = .bodyTooLarge
        case .stream(.timedOut): self = .requestTimedOut(isHead: false)
        case .unencrypted, .headTimedOut, .truncated, .stream: self = .clientGone
        }
    }
}

extension ProxyError {
    /// Translates a failure to receive the upstream's response.
    ///
    /// - Parameter loss: why there is no more of it, if that is the failure.
    init(receivingAnswer error: MessageError, loss: ResponseLoss? = nil) {
        if case .flood(let kind)? = loss, error == .truncated || error == .malformed(.malformed) {
            self = .upstreamFlood(of: kind)
            return
        }
        switch error {
        case .truncated where loss == .silence: self = .upstreamSilent
        // What has no fault of its own is not HTTP at all, or not the version that was spoken.
        case .malformed(.malformed), .malformed(.unsupportedVersion): self = .upstreamProtocol
        case .malformed(let fault): self = .upstreamMalformed(fault)
        case .stream(.flooded): self.init(.floodOfTLS)
        case .bodyTooLarge, .unencrypted, .headTimedOut, .truncated, .stream: self = .upstreamProtocol
        }
    }

    /// Translates the reason for a missing response.
    init(_ loss: ResponseLoss) {
        self =
            switch loss {
            case .connection: .upstreamClosed
            case .head: .upstreamHeadCut
            case .silence: .upstreamSilent
            case .exchange: .upstreamReset
            case .breach: .upstreamProtocol
            case .flood(let kind): .upstreamFlood(of: kind)
            }
    }
}

extension ProxyError {
    /// Translates a failure to connect to the upstream.
    init(_ error: UpstreamError) {
        self = error == .cancelled ? .clientGone : .upstreamUnavailable(error)
    }
}
