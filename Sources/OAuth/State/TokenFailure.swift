// SPDX-License-Identifier: Apache-2.0

/// Why a token request brought no token, sorted by what follows from it.
public struct TokenFailure: Error, Equatable, Sendable {
    /// What follows; the raw value is the `outcome` label of the metrics.
    public enum Kind: String, CaseIterable, Sendable {
        /// Asking again is pointless until a person acts.
        case final
        /// Perhaps final: asked a few times more, then treated as final but for a look every five minutes.
        case doubtful
        /// Somebody must change the configuration, or the provider.
        case misconfigured
        /// Asking again, unchanged, may work.
        case transient
    }

    /// What follows from it.
    public var kind: Kind
    /// The wire's `error` if it sent a printable one, else a word of ours.
    public var code: String
    /// One sentence of ours; never the provider's words.
    public var detail: String
    /// How long the provider asked us to wait, at most five minutes.
    public var retryAfter: Duration?
    /// Whether the connection ended before its answer did: the provider may have acted upon the request.
    public var isAnswerLost = false

    /// A failure with words of ours.
    public init(_ kind: Kind, code: String, detail: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }
}
