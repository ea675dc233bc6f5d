// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// Why an ID token is not valid.
package enum IDTokenError: Error, Equatable, Sendable {
    /// There is none, though the scope has `openid` (OpenID Connect Core §3.1.3.3).
    case missing
    /// It is no JWS with a JSON object, or has a critical header that is not known here.
    case malformed
    /// A required claim is missing or of the wrong type.
    case missingClaim(String)
    /// OpenID Connect Core §3.1.3.7, rule 2.
    case issuerMismatch(found: String, expected: String)
    /// Rule 3: it is not for this client.
    case audienceMismatch
    /// Rules 4 and 5: it is for several parties, and `azp` is not this client.
    case authorizedPartyMismatch
    /// Rules 6 to 8: it is unsigned, or not signed by the server.
    case badSignature(JOSEError)
    /// Rule 9.
    case expired
    /// Rule 10: `iat` is too far from now.
    case issuedAtTooFarFromNow
    /// Rule 11.
    case nonceMismatch
    /// Rule 12: `acr` is none of the requested `acr_values`.
    case contextMismatch
    /// Rule 13: `auth_time` is missing, or longer ago than the requested `max_age`.
    case authenticatedTooLongAgo
    /// `at_hash` does not fit the access token (OpenID Connect Core §3.1.3.8).
    case accessTokenMismatch
    /// A refresh brought the ID token of another person (OpenID Connect Core §12.2).
    case subjectChanged
    /// A refresh brought another issuer, audience or nonce than the login (OpenID Connect Core §12.2).
    case sessionChanged(String)

    /// The reason for people.
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
    /// The failure of a response with an invalid ID token.
    init(_ error: IDTokenError, from server: String) {
        // No later answer makes another person's refresh token this person's again.
        self.init(
            error == .subjectChanged ? .final : .transient, .badIDToken,
            detail: "the id token of \(server) is not believed: \(error.reason)")
    }
}
