// SPDX-License-Identifier: Apache-2.0

internal import JSON

/// The public keys of an authorization server (RFC 7517 §5).
package struct JSONWebKeySet: Sendable {
    /// Those that can verify something here, in their order.
    package let keys: [JSONWebKey]

    package init(keys: [JSONWebKey]) {
        self.keys = keys
    }

    /// Reads the document at `jwks_uri`; keys that are unknown or damaged are skipped, as RFC 7517 §5 asks.
    ///
    /// - Parameter document: JSON.
    /// - Throws: ``JOSEError/malformed`` if it is no object with an array `keys`.
    package init(parsing document: [UInt8]) throws(JOSEError) {
        guard let keys = (try? JSONObject(parsing: document))?["keys"]?.array else { throw .malformed }
        self.keys = keys.compactMap(\.object).compactMap(JSONWebKey.init)
    }

    /// Checks that one of these keys signed a token.
    ///
    /// Says nothing of the claims: their issuer, audience and expiry are the caller's to judge.
    ///
    /// - Parameters:
    ///   - token: what somebody sent.
    ///   - allowed: the algorithms to accept.
    /// - Throws: ``JOSEError`` saying why not.
    package func verify(
        _ token: JWS, allowing allowed: Set<JWSAlgorithm> = JWSAlgorithm.asymmetric
    ) throws(JOSEError) {
        guard allowed.contains(token.algorithm) else { throw .algorithmNotAllowed }
        let candidates = keys.filter { key in
            // A key without a name may be the one; a token without one was signed with one of them.
            key.fits(token.algorithm)
                && (token.keyID == nil || key.keyID == nil || key.keyID == token.keyID)
        }
        guard !candidates.isEmpty else { throw .noKey }
        guard candidates.contains(where: { $0.verifies(token) }) else { throw .signatureMismatch }
    }
}
