// SPDX-License-Identifier: Apache-2.0

/// A claim of an id token, spelled as on the wire (OpenID Connect Core §2).
enum IDTokenClaim: String {
    case issuer = "iss"
    case subject = "sub"
    case audience = "aud"
    case expiry = "exp"
    case issuedAt = "iat"
    case nonce
    case authorizedParty = "azp"
    case accessTokenHash = "at_hash"
    case authenticationTime = "auth_time"
    case authenticationContext = "acr"
}
