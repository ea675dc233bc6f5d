// SPDX-License-Identifier: Apache-2.0

/// Why a token request brought no token, sorted by what follows from it.
public struct TokenFailure: ExplainedError, Equatable, Sendable {
    /// A consequence of a failure.
    public enum Kind: String, CaseIterable, Sendable {
        /// Asking again is pointless until a person acts.
        case final
        /// Perhaps final: asked a few times more, then treated as final but for a look every five minutes.
        case doubtful
        /// Somebody must change the configuration, or the authorization server.
        case misconfigured
        /// Asking again, unchanged, may work.
        case transient
    }

    /// The consequence of the failure.
    public var kind: Kind
    /// The exact cause; the only thing that decides beside ``kind``.
    public var reason: Reason
    /// The event, its place, and the thing to look at, in words; never the reason's ``code`` once more.
    ///
    /// The authorization server's own words are in quotes, at most 200 bytes of them, and without what may be a secret.
    public var detail: String
    /// The authorization server's `error_description` (RFC 6749 §5.2), as far as it may be shown.
    public var providerDescription: String?
    /// A page about it (`error_uri`).
    public var errorURI: String?
    /// The party and the request that it belongs to.
    public var domain = ErrorDomain.general
    /// Host and port of the server that failed, or the path of its Unix socket; nil if none was asked.
    package var server: String?
    /// How long the authorization server asked us to wait, at most five minutes.
    public var retryAfter: Duration?

    /// A failure with a detail in words of ours.
    public init(_ kind: Kind, _ reason: Reason, detail: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.reason = reason
        self.detail = detail
        self.retryAfter = retryAfter
    }
}

extension TokenFailure {
    /// This failure as one of an answer that `server` gave.
    func at(_ server: String?) -> TokenFailure {
        var failure = self
        failure.server = server
        return failure
    }

    /// The server's own `error`, if that is the reason.
    var refusal: ErrorCode? {
        if case .refused(let error) = reason { error } else { nil }
    }

    /// True if nothing was asked for because the store failed.
    package var isAboutStore: Bool {
        if case .store = reason { true } else { false }
    }
}
