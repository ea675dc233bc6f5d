// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography

/// A successful response of the token endpoint (RFC 6749 §5.1), checked.
public struct TokenResponse: Sendable {
    /// The access token; every byte of it is in 0x21–0x7E.
    public var accessToken: Secret
    /// The access token's lifetime; nil if the response has none.
    public var lifetime: Duration?
    /// A refresh token that replaces the one before; nil if that stays valid.
    public var refreshToken: Secret?
    /// The ID token, if the response has one.
    public var idToken: Secret?
    /// The granted scope; nil if it is the one that was asked for.
    public var scope: [String]?
    /// `token_type` as the server spells it; nil if the response has none.
    public var tokenType: String?
    /// Further members of the response.
    public var additionalParameters: AdditionalParameters
    /// The key of the request's DPoP proof (RFC 9449 §5); a refresh token may be bound to it.
    package var proofKey: ProofKey?
    /// The token to revoke where none of them is used: a refresh token takes its access tokens with it.
    var revocable: (Secret, TokenHint) {
        refreshToken.map { ($0, .refreshToken) } ?? (accessToken, .accessToken)
    }
    /// The scope that a login asked for; nil where that is not known, and for refreshes.
    var loginScope: [String]?
    /// True if ``loginScope`` is that login's own, whatever is configured.
    var isLoginScopeOwn = false
    /// True if the access token is bound to ``proofKey``.
    package var isBound = false

    package init(
        accessToken: Secret, lifetime: Duration?, refreshToken: Secret? = nil, idToken: Secret? = nil,
        scope: [String]? = nil, additional: AdditionalParameters = AdditionalParameters(),
        tokenType: String? = nil
    ) {
        self.accessToken = accessToken
        self.lifetime = lifetime
        self.refreshToken = refreshToken
        self.idToken = idToken
        self.scope = scope
        self.tokenType = tokenType
        additionalParameters = additional
    }
}

extension TokenResponse: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[token response]" }
}
