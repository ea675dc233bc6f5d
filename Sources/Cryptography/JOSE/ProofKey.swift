// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
internal import CBearerdCjose

/// A key pair for proofs of possession, whose signatures show the public key (RFC 9449 §4.2).
///
/// It is stored as a private JWK, and can sign on any thread.
package struct ProofKey: Sendable {
    package let algorithm: JWSAlgorithm
    /// The public key: only the members that make it.
    package let publicJWK: JSONObject
    /// The whole key (RFC 7517 §4), stored with the tokens.
    package let privateJWK: Secret
    /// The RFC 7638 thumbprint, to which tokens and codes are bound (RFC 9449 §6, §10).
    package let thumbprint: String
    private let key: EVPKey
    /// The most bytes of both dots and an encoded signature.
    private static let roomOfSignature = 96

    /// The algorithms that keys can be made for.
    package static let algorithms: [JWSAlgorithm] = [.es256, .edDSA]

    /// Makes a key for ES256 or EdDSA.
    package static func generate(for algorithm: JWSAlgorithm) throws(JOSEError) -> ProofKey {
        let jwk: JSONObject
        switch algorithm {
        case .es256:
            jwk = try JOSEKey { cjose_jwk_create_EC_random(CJOSE_JWK_EC_P_256, $0) }.privateJWK()
        case .edDSA:
            let seed = SecureRandom.bytes(32)
            guard let point = EVPKey.ed25519Point(of: seed) else { throw .library(code: 0) }
            jwk = [
                "kty": "OKP", "crv": "Ed25519", "x": .string(Base64URL.encode(point)),
                "d": .string(Base64URL.encode(seed)),
            ]
        default:
            throw .algorithmNotAllowed
        }
        return try ProofKey(jwk)
    }

    /// Reads the form of ``privateJWK``.
    ///
    /// - Throws: ``JOSEError/malformed`` for any other key.
    package init(parsing jwk: Secret) throws(JOSEError) {
        guard let object = jwk.withPlaintext({ try? JSONObject(parsing: Array($0.utf8)) })
        else { throw .malformed }
        try self.init(object)
    }

    private init(_ jwk: JSONObject) throws(JOSEError) {
        key = try EVPKey(jwk: jwk)
        let members: [String]
        switch key.kind {
        case .p256?: (algorithm, members) = (.es256, ["kty", "crv", "x", "y"])
        case .ed25519?: (algorithm, members) = (.edDSA, ["kty", "crv", "x"])
        case .rsa?, nil: throw .malformed
        }
        var (shown, kept) = (JSONObject(), JSONObject())
        for member in members + ["d"] {
            guard let value = jwk[member]?.string else { throw .malformed }
            kept[member] = .string(value)
            if member != "d" { shown[member] = .string(value) }
        }
        guard let thumbprint = JSONWebKey.thumbprint(of: shown) else { throw .malformed }
        publicJWK = shown
        privateJWK = Secret(bytes: kept.serialized())
        self.thumbprint = thumbprint
    }

    /// The encoded protected header of everything that it signs as `type` (RFC 7515 §4.1).
    package func header(type: String) -> String {
        let header: JSONObject = [
            "typ": .string(type), "alg": .string(algorithm.rawValue), "jwk": .object(publicJWK),
        ]
        return Base64URL.encode(header.serialized())
    }

    /// Signs `payload` under a header of ``header(type:)``.
    ///
    /// - Returns: the compact serialization.
    package func sign(_ payload: [UInt8], under header: String) throws(JOSEError) -> String {
        var token = header
        token.reserveCapacity(header.utf8.count + payload.count * 4 / 3 + Self.roomOfSignature)
        token += "."
        token += Base64URL.encode(payload)
        let signature = try key.sign(Array(token.utf8), algorithm)
        token += "."
        token += Base64URL.encode(signature)
        return token
    }
}
