// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdJSON
import OAuth

/// Verifies access tokens (RFC 6750 §2.1, RFC 9068 §4).
struct DevelopmentTokenVerifier {
    let issuer: String
    let keys: JSONWebKeySet
    let isRevoked: (JSONObject) -> Bool

    /// Returns the claims of a valid token; a proof of possession is not checked here.
    ///
    /// - Throws: ``BearerRefusal``.
    func claims(of presented: PresentedToken, at now: WallTime) throws(BearerRefusal) -> JSONObject {
        let (token, scheme) = (presented.token, presented.scheme)
        do {
            try keys.verify(token)
        } catch {
            throw .invalidToken("the signature does not verify", scheme)
        }
        guard let claims = token.claims, claims[.issuer]?.string == issuer else {
            throw .invalidToken("the token is from another issuer", scheme)
        }
        // An id token of the same issuer is signed with the same key (RFC 9068 §5).
        guard token.type?.lowercased() != "jwt" || claims[.scope] != nil else {
            throw .invalidToken("the token is not an access token", scheme)
        }
        guard let expiry = claims[.expiry]?.number, expiry > Double(now.secondsSinceEpoch) else {
            throw .invalidToken("the token has expired", scheme)
        }
        guard !isRevoked(claims) else { throw .invalidToken("the token was revoked", scheme) }
        return claims
    }
}
