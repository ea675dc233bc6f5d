// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// Why an id token is not believed; holds nothing of the token.
package enum IDTokenError: Error, Equatable, Sendable {
    /// None came, or one that is no string, though the scope has `openid` (OpenID Connect Core §3.1.3.3).
    case missing
    /// No JWS whose payload is a JSON object, or it must be understood in a way we do not know.
    case malformed
    /// A claim that every id token has is missing or of the wrong type.
    case missingClaim(String)
    /// OpenID Connect Core §3.1.3.7, rule 2.
    case issuerMismatch(found: String, expected: String)
    /// Rule 3: not for this client.
    case audienceMismatch
    /// Rules 4 and 5: for several parties, and we are not said to be the authorized one.
    case authorizedPartyMismatch
    /// Rules 6 to 8: unsigned, or signed in a way or with a key that is not the server's.
    case badSignature(JOSEError)
    /// Rule 9.
    case expired
    /// Rule 10: issued too long before now, or after it.
    case issuedAtTooFarFromNow
    /// Rule 11.
    case nonceMismatch
    /// Rule 12: an `acr` that is none of the `acr_values` that were asked for.
    case contextMismatch
    /// Rule 13: `auth_time` is missing, or longer ago than the `max_age` that was asked for.
    case authenticatedTooLongAgo
    /// OpenID Connect Core §3.1.3.8.
    case accessTokenMismatch
    /// OpenID Connect Core §12.2: a refresh brought the id token of somebody else.
    case subjectChanged
    /// OpenID Connect Core §12.2: another issuer, audience or nonce than at the login.
    case sessionChanged(String)

    /// What a person reads of it.
    package var reason: String {
        switch self {
        case .missing: "there is none, or it is no string, though the scope has openid"
        case .malformed: "it is no signed JSON"
        case .missingClaim(let name): "its claim \(name) is missing or of the wrong type"
        case .issuerMismatch(let found, let expected):
            "issuer mismatch: it is of '\(found.shownIssuer)', not of '\(expected)'"
        case .audienceMismatch: "audience mismatch: it is not for this client"
        case .authorizedPartyMismatch: "authorized party mismatch: its azp is not this client"
        case .badSignature(.algorithmNotAllowed):
            "it is unsigned, or signed by an algorithm that is not allowed"
        case .badSignature(.noKey): "the provider publishes no key that fits its signature"
        case .badSignature: "its signature does not verify"
        case .expired: "it has expired; are the clocks right?"
        case .issuedAtTooFarFromNow:
            "it was issued more than 600 seconds before or after now; are the clocks right?"
        case .nonceMismatch: "nonce mismatch"
        case .contextMismatch: "its acr is none of the acr_values that were asked for"
        case .authenticatedTooLongAgo:
            "its auth_time is missing, or longer ago than the max_age that was asked for"
        case .accessTokenMismatch: "its at_hash is not that of the access token"
        case .subjectChanged: "its sub is not the one that logged in"
        case .sessionChanged(let name): "its \(name) is not the one of the login"
        }
    }
}

extension TokenFailure {
    /// What an id token that is not believed makes of an answer.
    init(_ error: IDTokenError, from server: String) {
        self.init(
            .transient, .badIDToken,
            detail: "the id token of \(server) is not believed: \(error.reason)")
    }
}
