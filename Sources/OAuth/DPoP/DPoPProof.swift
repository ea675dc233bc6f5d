// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdJSONText

/// A DPoP proof for one request, to be signed (RFC 9449 §4.2).
package struct DPoPProof: Sendable {
    private static let type = "dpop+jwt"

    let key: ProofKey
    /// The JOSE header, made by ``header(of:)``.
    let header: String
    /// `htm`.
    let method: String
    let target: DPoPTarget
    /// `ath`; nil without an access token.
    var tokenDigest: String?
    /// The server's nonce (RFC 9449 §8); nil if it has sent none.
    var nonce: String?

    /// The JOSE header of all proofs with `key`.
    static func header(of key: ProofKey) -> String { key.header(type: type) }

    /// Signs the proof with a unique `jti` and `iat` at `wall`.
    ///
    /// - Returns: the value of the field `DPoP`.
    /// - Throws: ``JOSEError``.
    func signed(
        at wall: WallTime, as identifier: String = SecureRandom.word(bytes: 16)
    ) throws(JOSEError) -> String {
        try key.sign(payload(at: wall, identifier), under: header)
    }

    private func payload(at wall: WallTime, _ identifier: String) -> [UInt8] {
        var payload: [UInt8] = []
        payload.reserveCapacity(320)
        func put(_ name: StaticString, _ value: String) {
            payload.append(UInt8(ascii: payload.isEmpty ? "{" : ","))
            payload.append(jsonString: name.description)
            payload.append(UInt8(ascii: ":"))
            payload.append(jsonString: value)
        }
        put("jti", identifier)
        put("htm", method)
        put("htu", target.uri)
        if let tokenDigest { put("ath", tokenDigest) }
        if let nonce { put("nonce", nonce) }
        payload += ",\"iat\":\(wall.secondsSinceEpoch)}".utf8
        return payload
    }
}

/// The binding of an access token to a key (RFC 9449 §6): each request with the token needs a proof.
package final class DPoPBinding: Sendable {
    let key: ProofKey
    /// The JOSE header of the proofs, made once.
    let header: String
    /// `ath` of the proofs: the token's hash (RFC 9449 §4.2).
    let tokenDigest: String

    /// Binds `token` to `key`.
    package init(of token: Secret, to key: ProofKey) {
        self.key = key
        header = DPoPProof.header(of: key)
        tokenDigest = Base64URL.encode(SHA256.digest(token.plaintextBytes))
    }

    /// The proof to sign for one request.
    package func proof(for method: String, at target: DPoPTarget, nonce: String?) -> DPoPProof {
        DPoPProof(
            key: key, header: header, method: method, target: target, tokenDigest: tokenDigest, nonce: nonce)
    }
}
