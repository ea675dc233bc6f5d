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
    /// What happened, where, and what to look at; never the ``code`` once more.
    ///
    /// The provider's own words are in quotes, at most 200 bytes of them, and without what may be a secret.
    public var detail: String
    /// How long the provider asked us to wait, at most five minutes.
    public var retryAfter: Duration?
    /// Whether the connection ended before its answer did: the provider may have acted upon the request.
    public var isAnswerLost = false
    /// Whether nothing was asked for because the store failed.
    package internal(set) var isAboutStore = false

    /// A failure with words of ours.
    public init(_ kind: Kind, code: String, detail: String, retryAfter: Duration? = nil) {
        self.kind = kind
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
    }
}

extension TokenFailure {
    /// The whole of it for a person, with the code once.
    public var sentence: String { Self.sentence(detail, code) }

    /// A detail and its code, which is left out where the detail says as much.
    static func sentence(_ detail: String, _ code: String) -> String {
        let word = code.hasPrefix("http_") ? code.dropFirst(5) : code[...]
        return detail.contains(word) ? detail : "\(detail) (\(code))"
    }
}

extension IdentityError {
    /// The whole of it for a person, with the code once.
    public var sentence: String { TokenFailure.sentence(detail, code) }
}
