// SPDX-License-Identifier: Apache-2.0

package import Cryptography

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
