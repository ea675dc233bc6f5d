// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPServer
import BearerdJSON
import OAuth

/// Verifies proofs of possession (RFC 9449 §4.3) and accepts each once.
struct ProofVerifier {
    /// The algorithms with which a proof may be signed.
    static let algorithms: [JWSAlgorithm] = [.es256, .edDSA]
    private static let type = "dpop+jwt"
    /// The largest difference between a proof's time and now, in seconds.
    private static let window: Int64 = 60
    private static let longestIdentifier = 256

    /// The `jti` of proofs that were accepted within the window.
    private var seen = ExpiringTable<Void>()

    /// The thumbprint of the key that a request proves to have; nil for a request without a proof.
    ///
    /// - Parameters:
    ///   - request: its method must be the proof's `htm`.
    ///   - url: the URL of the request without its query.
    ///   - token: the access token in the request; nil for none.
    ///   - now: the civil time.
    /// - Throws: ``ProofError``.
    mutating func thumbprint(
        of request: ServiceRequest, to url: String, with token: String? = nil, at now: WallTime
    ) throws(ProofError) -> String? {
        guard let field = request.head.fields[.dpop] else { return nil }
        guard request.head.fields.count(of: .dpop) == 1, let proof = try? JWS(compact: field),
            proof.type?.lowercased() == Self.type, let claims = proof.claims
        else { throw ProofError("the field DPoP is not one JWT of the type dpop+jwt") }
        guard Self.algorithms.contains(proof.algorithm), let jwk = proof.embeddedKey, jwk["d"] == nil,
            let key = JSONWebKey(jwk)
        else { throw ProofError("jwk is not a public key for ES256 or EdDSA") }
        guard key.verifies(proof) else { throw ProofError("the signature of the proof does not verify") }
        guard claims[.method]?.string == request.head.method.rawValue else {
            throw ProofError("htm is not the method of the request")
        }
        guard claims[.uri]?.string == url else { throw ProofError("htu is not \(url)") }
        guard let issuedAt = claims[.issuedAt]?.number,
            abs(issuedAt - Double(now.secondsSinceEpoch)) <= Double(Self.window)
        else { throw ProofError("iat is not within a minute of now") }
        guard claims[.tokenDigest]?.string == token.map({ Base64URL.encode(SHA256.digest(Array($0.utf8))) })
        else { throw ProofError("ath is not the hash of the access token") }
        try remember(claims[.tokenID]?.string, at: now)
        return key.thumbprint
    }

    /// Records a `jti`, which must be new.
    private mutating func remember(_ identifier: String?, at now: WallTime) throws(ProofError) {
        guard let identifier, 1...Self.longestIdentifier ~= identifier.utf8.count else {
            throw ProofError("jti is missing or too long")
        }
        guard seen.find(identifier, at: now) == nil else { throw ProofError("jti was used before") }
        seen.insert((), as: identifier, for: .seconds(2 * Self.window + 1), at: now)
    }
}
