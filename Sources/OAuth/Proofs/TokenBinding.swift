// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// What binds an access token to a key (RFC 9449 §6): it is shown with a proof that whoever shows it has that key.
package final class TokenBinding: Sendable {
    let key: ProofKey
    /// What stands before each proof's claims, made once.
    let header: String
    /// `ath` (RFC 9449 §4.2): which token the proofs go along with.
    let tokenDigest: String

    /// Binds `token` to `key`.
    package init(of token: Secret, to key: ProofKey) {
        self.key = key
        header = Proof.header(of: key)
        tokenDigest = Base64URL.encode(SHA256.digest(token.plaintextBytes))
    }

    /// What has to be signed for one request.
    package func proof(for method: String, at target: ProofTarget, nonce: String?) -> Proof {
        Proof(
            key: key, header: header, method: method, target: target, tokenDigest: tokenDigest, nonce: nonce)
    }
}
