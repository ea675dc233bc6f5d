// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
import BearerdJSONText

/// The public keys of an authorization server (RFC 7517 §5).
package struct JSONWebKeySet: Sendable {
    /// The keys that can verify a signature here, in their order.
    package let keys: [JSONWebKey]

    package init(keys: [JSONWebKey]) { self.keys = keys }

    /// Reads the document at `jwks_uri`; unknown and damaged keys are skipped (RFC 7517 §5).
    ///
    /// - Throws: ``JOSEError/malformed`` if it is no object with an array `keys`.
    package init(parsing document: [UInt8]) throws(JOSEError) {
        guard let keys = (try? JSONObject(parsing: document))?["keys"]?.array else { throw .malformed }
        self.keys = keys.compactMap(\.object).compactMap(JSONWebKey.init)
    }

    /// Checks that one of these keys signed a token.
    ///
    /// Does not judge the claims: issuer, audience and expiry are up to the caller.
    ///
    ///   - Parameter allowed: the algorithms to accept.
    package func verify(
        _ token: JWS, allowing allowed: Set<JWSAlgorithm> = JWSAlgorithm.asymmetric
    ) throws(JOSEError) {
        guard allowed.contains(token.algorithm) else { throw .algorithmNotAllowed }
        let candidates = keys.filter { key in
            // A key without `kid` may match any token, and a token without `kid` any key.
            key.fits(token.algorithm)
                && (token.keyID == nil || key.keyID?.hasSameBytes(as: token.keyID) ?? true)
        }
        guard !candidates.isEmpty else { throw .noKey }
        guard candidates.contains(where: { $0.verifies(token) }) else { throw .signatureMismatch }
    }
}
