// SPDX-License-Identifier: Apache-2.0

package import BearerdJSON

/// A public key of an authorization server (RFC 7517 §4).
package struct JSONWebKey: Sendable {
    /// `kid`, if the key has one.
    package let keyID: String?
    /// The RFC 7638 thumbprint with SHA-256, in base64url.
    package let thumbprint: String
    /// `alg`, if the key is for one algorithm alone.
    private let onlyAlgorithm: JWSAlgorithm?
    private let fitting: Set<JWSAlgorithm>
    private let key: PublicKey

    private enum PublicKey {
        case jose(JOSEKey)
        case ed25519(Ed25519PublicKey)
    }

    /// The fewest bytes of an RSA modulus (RFC 7518 §3.3).
    private static let shortestModulus = 256
    /// Longer moduli and exponents would only keep us busy.
    private static let longestModulus = 2048
    private static let longestExponent = 8
    /// The lengths of coordinates in bytes, leading zeros included (RFC 7518 §6.2.1.2).
    private static let coordinateLengths = ["P-256": 32, "P-384": 48, "P-521": 66, "Ed25519": 32]

    /// Reads one element of `keys`.
    ///
    /// Fails for keys that verify nothing here: other kinds, keys for encryption, short and damaged ones, and shared
    /// secrets, which must not be published.
    package init?(_ jwk: JSONObject) {
        if let use = jwk["use"]?.string, use != "sig" { return nil }
        if let operations = jwk["key_ops"]?.array, !operations.contains("verify") { return nil }
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("RSA", nil):
            guard let modulus = jwk["n"]?.string.flatMap(Base64URL.decode),
                modulus.drop(while: { $0 == 0 }).count >= Self.shortestModulus
            else { return nil }
            fitting = [.rs256, .rs384, .rs512, .ps256, .ps384, .ps512]
        case ("EC", "P-256"): fitting = [.es256]
        case ("EC", "P-384"): fitting = [.es384]
        case ("EC", "P-521"): fitting = [.es512]
        case ("OKP", "Ed25519"): fitting = [.edDSA]
        default: return nil
        }
        guard let part = Self.publicPart(of: jwk), let thumbprint = Self.thumbprint(of: part),
            let key = Self.publicKey(part)
        else { return nil }
        self.key = key
        self.thumbprint = thumbprint
        keyID = jwk["kid"]?.string
        onlyAlgorithm = jwk["alg"]?.string.map(JWSAlgorithm.init(rawValue:))
    }

    private static func publicKey(_ part: JSONObject) -> PublicKey? {
        if part["kty"]?.string == "OKP" {
            return part["x"]?.string.flatMap(Base64URL.decode).flatMap(Ed25519PublicKey.init).map(
                PublicKey.ed25519)
        }
        return (try? JOSEKey(jwk: part)).map(PublicKey.jose)
    }

    /// The members of the public key, each encoded anew.
    ///
    /// The lengths are checked because cjose ends the process over a wrong one. Private members are left out, in case
    /// somebody published them.
    private static func publicPart(of jwk: JSONObject) -> JSONObject? {
        var part = JSONObject()
        func take(_ name: String, _ lengths: ClosedRange<Int>) -> Bool {
            guard let bytes = jwk[name]?.string.flatMap(Base64URL.decode), lengths ~= bytes.count
            else { return false }
            part[name] = .string(Base64URL.encode(bytes))
            return true
        }
        part["kty"] = jwk["kty"]
        guard let curve = jwk["crv"]?.string else {
            return take("n", shortestModulus...longestModulus) && take("e", 1...longestExponent) ? part : nil
        }
        part["crv"] = .string(curve)
        guard let length = coordinateLengths[curve] else { return nil }
        guard take("x", length...length) else { return nil }
        return part["kty"]?.string == "OKP" || take("y", length...length) ? part : nil
    }

    /// Returns true if a token with this algorithm can have been signed with this key.
    func fits(_ algorithm: JWSAlgorithm) -> Bool {
        fitting.contains(algorithm) && (onlyAlgorithm ?? algorithm) == algorithm
    }

    /// Returns true if this key made a token's signature, by an algorithm that fits it.
    package func verifies(_ token: JWS) -> Bool {
        guard fits(token.algorithm) else { return false }
        return switch key {
        case .jose(let key): key.verifies(token.compact)
        case .ed25519(let key): key.verifies(token.compact)
        }
    }

    /// The key's RFC 7638 thumbprint with SHA-256, in base64url; nil for other kinds than RSA, EC and OKP.
    static func thumbprint(of jwk: JSONObject) -> String? {
        let members: [String]
        switch jwk["kty"]?.string {
        case "RSA": members = ["e", "kty", "n"]
        case "EC": members = ["crv", "kty", "x", "y"]
        case "OKP": members = ["crv", "kty", "x"]
        default: return nil
        }
        var required = JSONObject()
        for name in members { required[name] = jwk[name] }
        return Base64URL.encode(SHA256.digest(required.serialized()))
    }
}
