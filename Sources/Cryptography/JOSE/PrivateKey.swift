// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON
internal import CBearerdOpenSSL

/// A client's private key, from a PEM file or a JWK, for signing tokens.
package struct PrivateKey: Sendable {
    /// The JWK's `kid`; nil for a PEM file.
    package let keyID: String?
    /// The default algorithm: the JWK's `alg`, otherwise that of the key's kind.
    package let algorithm: JWSAlgorithm
    private let key: EVPKey
    private let fitting: Set<JWSAlgorithm>

    /// Reads a key.
    ///
    /// - Parameter text: PEM (PKCS #8 or the older forms, not encrypted), or a JWK (RFC 7517 §4) with its private
    ///   members: RSA of at least 2048 bits, EC on P-256, or OKP on Ed25519.
    /// - Throws: ``JOSEError/malformed`` for anything else; ``JOSEError/algorithmNotAllowed`` if the `alg` of a JWK
    ///   does not fit the key.
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
    ///   - algorithm: nil for the default.
    ///   - header: further members of the header, besides `typ` and `alg`.
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

    /// The public key as a SubjectPublicKeyInfo.
    var publicPart: [UInt8] { key.publicPart }

    /// The public key in the form in which a server keeps it for verifying (RFC 7517 §4).
    ///
    /// - Parameters:
    ///   - keyID: `kid`; nil for the key's own, otherwise its RFC 7638 thumbprint.
    ///   - algorithm: `alg`; nil for the key's own.
    package func publicJWK(keyID: String? = nil, algorithm: JWSAlgorithm? = nil) -> JSONObject? {
        guard var jwk = key.publicJWK else { return nil }
        let kid = keyID ?? self.keyID ?? JSONWebKey.thumbprint(of: jwk)
        jwk["kid"] = kid.map(JSONValue.string)
        jwk["alg"] = .string((algorithm ?? self.algorithm).rawValue)
        jwk["use"] = "sig"
        return jwk
    }

    /// Returns true if the key can sign with an algorithm.
    package func fits(_ algorithm: JWSAlgorithm) -> Bool { fitting.contains(algorithm) }
}
