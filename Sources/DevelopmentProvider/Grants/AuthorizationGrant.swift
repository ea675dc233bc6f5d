// SPDX-License-Identifier: Apache-2.0

import OAuth

/// The rights for which a client gets tokens.
struct AuthorizationGrant {
    /// Identifies all tokens of one login, which are revoked together; also their `sid`.
    var family: String
    var clientID: String
    /// The user's name; the client's id if there is no user.
    var subject: String
    /// When the user typed the password; nil if there is no user.
    var authenticatedAt: WallTime?
    var scope: [String]
    /// `aud` of the access tokens.
    var audience: [String]
    /// The nonce of the authorization request, for the id token.
    var nonce: String?
    /// The thumbprint of the key to which the tokens are bound (RFC 9449 §6); nil for bearer tokens.
    var keyThumbprint: String?
}

/// The grant behind a refresh token (RFC 6749 §6).
struct RefreshGrant {
    var grant: AuthorizationGrant
    /// True once the token was used; a second use means that it was stolen (RFC 9700 §4.14.2).
    var isUsed = false
}

/// An authorization request that waits for its user (RFC 6749 §4.1.1).
struct PendingAuthorization {
    var clientID: String
    var redirectURI: String
    var state: String?
    var scope: [String]
    var audience: [String]
    var nonce: String?
    /// RFC 7636 §4.2, method S256.
    var codeChallenge: String
    /// The `prompt` values (OpenID Connect Core §3.1.2.1).
    var prompt: [String]
    /// The thumbprint of the key to which the code is bound (RFC 9449 §10); nil for any.
    var keyThumbprint: String?
}

/// The grant behind an authorization code (RFC 6749 §4.1.2).
struct CodeGrant {
    var grant: AuthorizationGrant
    var redirectURI: String
    var codeChallenge: String
    /// True once the code was used; a second use revokes its tokens.
    var isUsed = false
}

/// The session of a browser in which a user has logged in.
struct BrowserSession {
    var user: String
    var authenticatedAt: WallTime
}

/// A device that waits for its user (RFC 8628 §3.2).
struct DeviceGrant {
    /// The user's decision.
    enum Decision {
        case pending
        case approved(AuthorizationGrant)
        case denied
    }

    var clientID: String
    var scope: [String]
    var audience: [String]
    var userCode: String
    var decision = Decision.pending
    /// The seconds between two polls; grows with each poll that comes too soon.
    var interval = 5
    var lastPoll: WallTime?
}
