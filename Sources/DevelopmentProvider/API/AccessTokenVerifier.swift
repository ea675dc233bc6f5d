// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPServer
import HTTPMessages
import JSON
import OAuth

/// Judges the access token of a request (RFC 6750 §2.1, RFC 9068 §4).
struct AccessTokenVerifier {
    let issuer: String
    let keys: JSONWebKeySet
    let isRevoked: (JSONObject) -> Bool

    /// The token of a request, taken apart.
    ///
    /// - Throws: ``BearerRefusal``.
    static func token(of request: ServiceRequest) throws(BearerRefusal) -> JWS {
        guard request.head.fields.count(of: .authorization) <= 1 else {
            throw .invalidToken("more than one Authorization field")
        }
        guard let text = request.credentials("Bearer") else { throw .noToken }
        guard let token = try? JWS(compact: text) else {
            throw .invalidToken("the token is not a signed JWT")
        }
        return token
    }

    /// The claims of a request's token, once all is well with it.
    ///
    /// - Throws: ``BearerRefusal``.
    func claims(of request: ServiceRequest, at now: WallTime) throws(BearerRefusal) -> JSONObject {
        let token = try AccessTokenVerifier.token(of: request)
        do {
            try keys.verify(token)
        } catch {
            throw .invalidToken("the signature does not verify")
        }
        guard let claims = token.claims, claims[.issuer]?.string == issuer else {
            throw .invalidToken("the token is from another issuer")
        }
        // An id token of the same issuer is signed with the same key (RFC 9068 §5).
        guard token.type?.lowercased() != "jwt" || claims[.scope] != nil else {
            throw .invalidToken("the token is not an access token")
        }
        guard let expiry = claims[.expiry]?.number, expiry > Double(now.secondsSinceEpoch) else {
            throw .invalidToken("the token has expired")
        }
        guard !isRevoked(claims) else { throw .invalidToken("the token was revoked") }
        return claims
    }
}
