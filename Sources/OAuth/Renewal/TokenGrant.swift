// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// What a successful answer of the token endpoint granted (RFC 6749 §5.1), checked and ready for use.
public struct TokenGrant: Sendable {
    /// What a resource server is shown; every byte of it is in 0x21–0x7E.
    public var accessToken: Secret
    /// How long the access token is good for; nil if the answer did not tell.
    public var lifetime: Duration?
    /// A refresh token in place of the one before, which stays good if the answer had none.
    public var refreshToken: Secret?
    /// Who the person is, if the server says it.
    public var idToken: Secret?
    /// nil if the answer had none: what was asked for was granted.
    public var scope: [String]?
    /// `token_type`, as the server spells it; nil if the answer had none.
    public var tokenType: String?
    /// What else the answer had.
    public var additionalParameters: AdditionalParameters
    /// The key that the request proved to have (RFC 9449 §5); a refresh token may be bound to it.
    package var proofKey: ProofKey?
    /// What the login asked for in place of what is configured; nil for a refresh, and where it asked for that.
    var loginScope: [String]?
    /// Whether the access token is bound to ``proofKey``, as its `token_type` says.
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

extension TokenGrant: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[token response]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

extension TokenGrant {
    /// This grant, whose request proved to have `key`.
    func proved(with key: ProofKey?) -> TokenGrant {
        var proved = self
        proved.proofKey = key
        return proved
    }
}
