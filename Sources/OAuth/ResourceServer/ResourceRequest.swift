// SPDX-License-Identifier: Apache-2.0

/// The parts of a request to a resource server that its access token is judged by.
public struct ResourceRequest: Sendable {
    /// The method, to the letter.
    public var method: String
    /// The URL as the client addressed it: scheme, the `Host` that was sent, path; a query is ignored.
    public var url: String
    /// Every value of the field `Authorization`.
    public var authorization: [String]
    /// Every value of the field `DPoP` (RFC 9449 §4.1).
    public var proofs: [String] = []
    /// The SHA-256 thumbprint in base64url of the certificate that the client presented by TLS; nil for none.
    public var certificateThumbprint: String?

    /// A request without a proof of possession.
    public init(method: String, url: String, authorization: [String]) {
        self.method = method
        self.url = url
        self.authorization = authorization
    }

    /// A token in the field `Authorization`, with the scheme that it came by.
    struct Credentials {
        let scheme: BearerChallenge.Scheme
        let token: String
    }

    /// The token that the request carries (RFC 6750 §2.1, RFC 9449 §7.1).
    ///
    /// - Throws: ``AccessTokenError/missing`` without one, ``AccessTokenError/invalidRequest`` for several, or one
    ///   that is no `b64token`.
    func credentials() throws(AccessTokenError) -> Credentials {
        guard let field = authorization.first else { throw .missing }
        guard authorization.count == 1 else { throw .invalidRequest }
        let parts = field.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        guard let scheme = parts.first.flatMap({ BearerChallenge.Scheme(rawValue: $0.lowercased()) }) else {
            throw .missing
        }
        let token = parts.count == 2 ? parts[1].drop { $0 == " " } : ""
        guard !token.isEmpty, token.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else { throw .invalidRequest }
        return Credentials(scheme: scheme, token: String(token))
    }
}

extension ResourceRequest: Redacted {
    /// The method alone: the URL and the token are nobody's but the server's.
    public var description: String { "[request \(method)]" }
}
