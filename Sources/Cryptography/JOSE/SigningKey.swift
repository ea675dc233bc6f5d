// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
internal import CBearerdCjose

/// A private key or shared secret for signing tokens.
package struct SigningKey: Sendable {
    package let algorithm: JWSAlgorithm
    /// The RFC 7638 thumbprint, as `kid`; nil for a shared secret, whose hash must not be published.
    package let keyID: String?
    /// The public key (RFC 7517 §4); nil for a shared secret.
    package let publicJWK: JSONObject?
    private let key: JOSEKey

    /// Makes an RSA key of 2048 bits for RS256; takes a tenth of a second or more.
    package static func generateRSA() throws(JOSEError) -> SigningKey {
        let exponent: [UInt8] = [1, 0, 1]
        let key = try JOSEKey { cjose_jwk_create_RSA_random(2048, exponent, exponent.count, $0) }
        return try SigningKey(publishing: key, .rs256)
    }

    /// Makes a key on the curve P-256 for ES256.
    package static func generateP256() throws(JOSEError) -> SigningKey {
        let key = try JOSEKey { cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, $0) }
        return try SigningKey(publishing: key, .es256)
    }

    /// A shared secret for HMAC.
    ///
    /// - Parameters:
    ///   - secret: not empty; RFC 7518 §3.2 wants 32 bytes at least.
    ///   - algorithm: one of ``JWSAlgorithm/symmetric``.
    package init(secret: Secret, algorithm: JWSAlgorithm = .hs256) throws(JOSEError) {
        key = try JOSEKey { error in
            secret.withPlaintextBytes { bytes in
                bytes.withUnsafeBufferPointer { cjose_jwk_create_oct_spec($0.baseAddress, $0.count, error) }
            }
        }
        self.algorithm = algorithm
        keyID = nil
        publicJWK = nil
    }

    private init(publishing key: JOSEKey, _ algorithm: JWSAlgorithm) throws(JOSEError) {
        var jwk = try key.publicJWK()
        let keyID = JSONWebKey.thumbprint(of: jwk)
        jwk["kid"] = keyID.map(JSONValue.string)
        jwk["alg"] = .string(algorithm.rawValue)
        jwk["use"] = "sig"
        self.key = key
        self.algorithm = algorithm
        self.keyID = keyID
        publicJWK = jwk
    }

    /// Signs a payload (RFC 7515 §5.1).
    ///
    ///   - payload: for a JWT, its claims as JSON.
    ///   - type: the header's `typ`.
    /// - Returns: the compact serialization.
    package func sign(_ payload: [UInt8], type: String = "JWT") throws(JOSEError) -> String {
        var header = [(name: "typ", value: type), (name: "alg", value: algorithm.rawValue)]
        if let keyID { header.append((name: "kid", value: keyID)) }
        return try key.sign(payload, header: header)
    }

    /// Checks that this key made a token's signature.
    ///
    /// - Parameter token: must name this key's algorithm.
    package func verify(_ token: JWS) throws(JOSEError) {
        guard token.algorithm == algorithm else { throw .algorithmNotAllowed }
        guard key.verifies(token.compact) else { throw .signatureMismatch }
    }
}
