// SPDX-License-Identifier: Apache-2.0

import OAuth

/// What a client may have tokens for.
struct AuthorizationGrant {
    /// Names all tokens that come from one login and are revoked together; also their `sid`.
    var family: String
    var clientID: String
    /// The user's name; the client's id if there is no user.
    var subject: String
    /// When the user typed the password; nil if there is no user.
    var authenticatedAt: WallTime?
    var scope: [String]
    /// `aud` of the access tokens.
    var audience: [String]
    /// From the authorization request, for the id token.
    var nonce: String?
    /// The key that the tokens are bound to (RFC 9449 §6); nil for bearer tokens.
    var keyThumbprint: String?
}

/// A refresh token's meaning (RFC 6749 §6).
struct RefreshGrant {
    var grant: AuthorizationGrant
    /// Used tokens are remembered: a second use betrays a thief (RFC 9700 §4.14.2).
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
    /// How the user is to be asked (OpenID Connect Core §3.1.2.1).
    var prompt: [String]
    /// The key that the code is bound to (RFC 9449 §10); nil for any.
    var keyThumbprint: String?
}

/// An authorization code's meaning (RFC 6749 §4.1.2).
struct CodeGrant {
    var grant: AuthorizationGrant
    var redirectURI: String
    var codeChallenge: String
    /// A code that is used twice revokes what came from it.
    var isUsed = false
}

/// A browser in which somebody has logged in.
struct BrowserSession {
    var user: String
    var authenticatedAt: WallTime
}

/// A device that waits for its user (RFC 8628 §3.2).
struct DeviceGrant {
    /// What the user has said so far.
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
    /// Seconds between two polls; grows with each that comes too soon.
    var interval = 5
    var lastPoll: WallTime?
}
