// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
package import JSON

/// A private key of a client's, from a PEM file or a JWK, that signs tokens.
package struct PrivateKey: Sendable {
    /// The JWK's `kid`; nil for a PEM file.
    package let keyID: String?
    /// What it signs with unless another algorithm is asked for: the JWK's `alg`, else what its kind allows.
    package let algorithm: JWSAlgorithm
    private let key: EVPKey
    private let fitting: Set<JWSAlgorithm>

    /// Reads a key.
    ///
    /// - Parameter text: PEM (PKCS #8 or the older forms, not encrypted), or a JWK (RFC 7517 §4) with its private
    ///   members: RSA of at least 2048 bits, EC on P-256, or OKP on Ed25519.
    /// - Throws: ``JOSEError/malformed`` if it is nothing of that; ``JOSEError/algorithmNotAllowed`` for a JWK whose
    ///   `alg` does not fit the key.
    package init(parsing text: Secret) throws(JOSEError) {
        if let jwk = text.withPlaintext({ try? JSONObject(parsing: Array($0.utf8)) }) {
            key = try EVPKey(jwk: jwk)
            keyID = jwk["kid"]?.string
            fitting = key.algorithms
            let named = jwk["alg"]?.string.map(JWSAlgorithm.init(rawValue:))
            guard let algorithm = named ?? key.kind?.algorithm else { throw .malformed }
            guard fitting.contains(algorithm) else { throw .algorithmNotAllowed }
            self.algorithm = algorithm
        } else {
            key = try EVPKey(pem: text)
            keyID = nil
            guard let kind = key.kind else { throw .malformed }
            algorithm = kind.algorithm
            fitting = key.algorithms
        }
    }

    /// Signs claims (RFC 7515 §5.1, RFC 7519).
    ///
    /// - Parameters:
    ///   - claims: the payload.
    ///   - algorithm: nil for the key's own.
    ///   - header: members to go into the header besides `typ` and `alg`.
    /// - Returns: the compact serialization.
    /// - Throws: ``JOSEError/algorithmNotAllowed`` if the key is of another kind; ``JOSEError/library(code:)``.
    package func sign(
        _ claims: JSONObject, algorithm: JWSAlgorithm? = nil, header: JSONObject = JSONObject()
    ) throws(JOSEError) -> String {
        try sign(payload: claims.serialized(), algorithm: algorithm, header: ["typ": "JWT"], further: header)
    }

    func sign(
        payload: [UInt8], algorithm: JWSAlgorithm?, header: JSONObject, further: JSONObject = JSONObject()
    ) throws(JOSEError) -> String {
        let algorithm = algorithm ?? self.algorithm
        guard fitting.contains(algorithm) else { throw .algorithmNotAllowed }
        var header = header
        header["alg"] = .string(algorithm.rawValue)
        for (name, value) in further { header[name] = value }
        let signed = Base64URL.encode(header.serialized()) + "." + Base64URL.encode(payload)
        return try signed + "." + Base64URL.encode(key.sign(Array(signed.utf8), algorithm))
    }

    /// The public key that belongs to it, as a SubjectPublicKeyInfo.
    var publicPart: [UInt8] { key.publicPart }

    /// The public key as a server keeps it to verify what this one signs (RFC 7517 §4).
    ///
    /// - Parameters:
    ///   - keyID: `kid`; nil for the key's own, else its RFC 7638 thumbprint.
    ///   - algorithm: `alg`; nil for the key's own.
    package func publicJWK(keyID: String? = nil, algorithm: JWSAlgorithm? = nil) -> JSONObject? {
        guard var jwk = key.publicJWK else { return nil }
        let kid = keyID ?? self.keyID ?? JSONWebKey.thumbprint(of: jwk)
        jwk["kid"] = kid.map(JSONValue.string)
        jwk["alg"] = .string((algorithm ?? self.algorithm).rawValue)
        jwk["use"] = "sig"
        return jwk
    }

    /// Whether the key is of the kind that an algorithm takes.
    package func fits(_ algorithm: JWSAlgorithm) -> Bool { fitting.contains(algorithm) }
}
