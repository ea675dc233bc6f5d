// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import BearerdJSONText

/// The rules by which a resource server judges the proof of a request (RFC 9449 §4.3, §7.2).
struct DPoPProofRules {
    private static let type = "dpop+jwt"
    /// Longer proofs are refused unread; in bytes.
    private static let longest = 8192
    /// A longer `jti` is refused; in bytes.
    private static let longestIdentifier = 256

    let algorithms: Set<JWSAlgorithm>
    /// How far `iat` may be from now, in either direction.
    let window: Duration

    /// Judges the proof of a request; whether it was shown before is up to the caller.
    ///
    /// - Parameters:
    ///   - token: the access token beside it.
    ///   - thumbprint: that of the key which the token is bound to.
    /// - Returns: the proof's `jti`.
    /// - Throws: ``AccessTokenError/invalidProof(_:)`` for the first rule that is broken.
    func check(
        _ request: ResourceRequest, token: String, boundTo thumbprint: String, at now: WallTime
    ) throws(AccessTokenError) -> String {
        guard request.proofs.count == 1, let compact = request.proofs.first else {
            throw .invalidProof(.count)
        }
        guard compact.utf8.count <= Self.longest, let proof = try? JWS(compact: compact),
            proof.type?.lowercased() == Self.type, let members = proof.embeddedKey, members["d"] == nil,
            let key = JSONWebKey(members), let claims = proof.claims,
            let identifier = claims["jti"]?.string, 1...Self.longestIdentifier ~= identifier.utf8.count,
            let issuedAt = claims["iat"].flatMap(WallTime.init(numericDate:))
        else { throw .invalidProof(.malformed) }
        guard algorithms.intersection(JWSAlgorithm.asymmetric).contains(proof.algorithm) else {
            throw .invalidProof(.algorithm)
        }
        guard key.verifies(proof) else { throw .invalidProof(.signature) }
        guard request.method.hasSameBytes(as: claims["htm"]?.string),
            let named = claims["htu"]?.string.flatMap(HTTPURL.init), let url = HTTPURL(request.url),
            DPoPTarget(named).uri.hasSameBytes(as: DPoPTarget(url).uri)
        else { throw .invalidProof(.request) }
        guard Base64URL.encode(SHA256.digest(Array(token.utf8))).hasSameBytes(as: claims["ath"]?.string)
        else {
            throw .invalidProof(.token)
        }
        guard .zero - window...window ~= now - issuedAt else { throw .invalidProof(.age) }
        guard thumbprint.hasSameBytes(as: key.thumbprint) else { throw .invalidToken(.binding) }
        return identifier
    }
}
