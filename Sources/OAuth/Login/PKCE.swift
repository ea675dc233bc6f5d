// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// Proof Key for Code Exchange, by S256 alone (RFC 7636).
enum PKCE {
    /// The parameters that a request has for a verifier.
    static func parameters(for verifier: String) -> [(AuthorizationParameter, String)] {
        [
            (.codeChallenge, Base64URL.encode(SHA256.digest(Array(verifier.utf8)))),
            (.codeChallengeMethod, "S256"),
        ]
    }
}
