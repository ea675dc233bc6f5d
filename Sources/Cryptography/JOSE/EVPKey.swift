// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
internal import CBearerdOpenSSL
internal import Synchronization

/// A private key of OpenSSL's (`EVP_PKEY`), released with the object.
///
/// `@unchecked Sendable`: it is immutable after `init`, and OpenSSL lets any number of threads sign with one key,
/// each in a context of its own.
final class EVPKey: @unchecked Sendable {
    /// The kinds of keys that can sign.
    enum Kind: Sendable {
        case rsa
        case p256
        case ed25519

        /// The default algorithm of the kind.
        var algorithm: JWSAlgorithm {
            switch self {
            case .rsa: .rs256
            case .p256: .es256
            case .ed25519: .edDSA
            }
        }
    }

    /// RFC 7518 §3.3.
    private static let fewestBitsOfRSA = 2048
    /// Bytes of each of the two numbers of an ES256 signature.
    private static let p256Bytes = 32
    /// The most bytes of a DER signature by ECDSA on P-256.
    private static let longestOnP256 = 72

    private let key: OpaquePointer
    /// Idle signing contexts (`EVP_PKEY_CTX`) as numbers, as many as threads have signed at once: making one costs a
    /// tenth of an ES256 signature.
    private let contexts = Mutex<[UInt]>([])
    /// Nil for keys of other kinds, and for RSA keys that are too short.
    let kind: Kind?

    /// Takes ownership of `key`.
    private init(_ key: OpaquePointer) {
        self.key = key
        kind = Self.kind(of: key)
    }

    deinit {
        for context in contexts.withLock({ $0 }) { EVP_PKEY_CTX_free(OpaquePointer(bitPattern: context)) }
        EVP_PKEY_free(key)
    }

    /// The algorithms that the key can sign with.
    var algorithms: Set<JWSAlgorithm> {
        switch kind {
        case .rsa?: [.rs256, .ps256]
        case .p256?: [.es256]
        case .ed25519?: [.edDSA]
        case nil: []
        }
    }

    /// The members of the public key (RFC 7518 §6.2.1, §6.3.1, RFC 8037 §2); nil for keys of other kinds.
    var publicJWK: JSONObject? {
        defer { ERR_clear_error() }
        func text(_ bytes: [UInt8]?) -> JSONValue? { bytes.map { .string(Base64URL.encode($0)) } }
        switch kind {
        case .rsa?:
            guard let n = text(number(OSSL_PKEY_PARAM_RSA_N)), let e = text(number(OSSL_PKEY_PARAM_RSA_E))
            else { return nil }
            return ["kty": "RSA", "n": n, "e": e]
        case .p256?:
            guard let x = text(number(OSSL_PKEY_PARAM_EC_PUB_X, bytes: Self.p256Bytes)),
                let y = text(number(OSSL_PKEY_PARAM_EC_PUB_Y, bytes: Self.p256Bytes))
            else { return nil }
            return ["kty": "EC", "crv": "P-256", "x": x, "y": y]
        case .ed25519?:
            guard let x = text(Self.ed25519Point(of: key)) else { return nil }
            return ["kty": "OKP", "crv": "Ed25519", "x": x]
        case nil:
            return nil
        }
    }

    /// One of the public key's numbers, big-endian (`EVP_PKEY_get_bn_param`).
    ///
    /// - Parameter count: the length to pad to with zeros; nil for the shortest form.
    private func number(_ name: String, bytes count: Int? = nil) -> [UInt8]? {
        var value: OpaquePointer?
        guard EVP_PKEY_get_bn_param(key, name, &value) == 1, let value else { return nil }
        defer { BN_free(value) }
        var bytes = [UInt8](repeating: 0, count: count ?? (Int(BN_num_bits(value)) + 7) / 8)
        return BN_bn2binpad(value, &bytes, CInt(bytes.count)) == CInt(bytes.count) ? bytes : nil
    }

    /// The public part as a SubjectPublicKeyInfo (RFC 5280 §4.1).
    var publicPart: [UInt8] { Self.publicPart(of: key) }

    /// The SubjectPublicKeyInfo of any OpenSSL key (`i2d_PUBKEY`); empty if there is none.
    static func publicPart(of key: OpaquePointer) -> [UInt8] {
        var start: UnsafeMutablePointer<UInt8>?
        let length = i2d_PUBKEY(key, &start)
        guard length > 0, let start else { return [] }
        defer { CRYPTO_free(start, nil, 0) }
        return Array(UnsafeBufferPointer(start: start, count: Int(length)))
    }

    private static func kind(of key: OpaquePointer) -> Kind? {
        switch EVP_PKEY_get_base_id(key) {
        case EVP_PKEY_RSA: EVP_PKEY_get_bits(key) >= fewestBitsOfRSA ? .rsa : nil
        case EVP_PKEY_EC: isOnP256(key) ? .p256 : nil
        case EVP_PKEY_ED25519: .ed25519
        default: nil
        }
    }

    private static func isOnP256(_ key: OpaquePointer) -> Bool {
        var name = [CChar](repeating: 0, count: 80)
        var length = 0
        return EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1
            && OBJ_txt2nid(name) == NID_X9_62_prime256v1
    }

    // MARK: Reading

    /// Reads the first private key of a PEM file (`PEM_read_bio_PrivateKey`); refuses one with a passphrase.
    convenience init(pem: Secret) throws(JOSEError) {
        defer { ERR_clear_error() }
        guard let key = readPrivateKey(pem: pem) else { throw .malformed }
        self.init(key)
    }

    /// Reads a private JWK (RFC 7518 §6, RFC 8037 §2).
    convenience init(jwk: JSONObject) throws(JOSEError) {
        defer { ERR_clear_error() }
        func bytes(_ name: String) -> [UInt8]? { jwk[name]?.string.flatMap(Base64URL.decode) }
        let key: OpaquePointer?
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("RSA", nil):
            // The names of the factors and the numbers derived from them, which a JWK may leave out.
            let names = [
                ("n", OSSL_PKEY_PARAM_RSA_N), ("e", OSSL_PKEY_PARAM_RSA_E), ("d", OSSL_PKEY_PARAM_RSA_D),
                ("p", "rsa-factor1"), ("q", "rsa-factor2"), ("dp", "rsa-exponent1"),
                ("dq", "rsa-exponent2"), ("qi", "rsa-coefficient1"),
            ]
            let parameters = KeyParameters()
            for (member, name) in names {
                if let value = bytes(member) { parameters.add(name, number: value) }
            }
            guard bytes("n") != nil, bytes("e") != nil, bytes("d") != nil else { throw .malformed }
            key = parameters.makeKey("RSA")
        case ("EC", "P-256"):
            guard let x = bytes("x"), let y = bytes("y"), let d = bytes("d"),
                x.count == Self.p256Bytes, y.count == Self.p256Bytes
            else { throw .malformed }
            let parameters = KeyParameters()
            parameters.add(OSSL_PKEY_PARAM_GROUP_NAME, text: "prime256v1")
            parameters.add(OSSL_PKEY_PARAM_PUB_KEY, bytes: [4] + x + y)
            parameters.add(OSSL_PKEY_PARAM_PRIV_KEY, number: d)
            key = parameters.makeKey("EC")
        case ("OKP", "Ed25519"):
            guard let d = bytes("d") else { throw .malformed }
            key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, d, d.count)
        default:
            throw .malformed
        }
        guard let key else { throw .malformed }
        self.init(key)
    }

    /// The public point of an Ed25519 key (RFC 8032 §5.1.5, `EVP_PKEY_get_raw_public_key`); nil for an invalid seed.
    static func ed25519Point(of seed: [UInt8]) -> [UInt8]? {
        defer { ERR_clear_error() }
        guard let key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nil, seed, seed.count)
        else { return nil }
        defer { EVP_PKEY_free(key) }
        return ed25519Point(of: key)
    }

    private static func ed25519Point(of key: OpaquePointer) -> [UInt8]? {
        var point = [UInt8](repeating: 0, count: 32)
        var length = point.count
        guard EVP_PKEY_get_raw_public_key(key, &point, &length) == 1, length == point.count
        else { return nil }
        return point
    }

    // MARK: Signing

    /// Signs as in RFC 7518 §3 and RFC 8037 §3.1 (`EVP_DigestSign`).
    ///
    ///   - Parameter algorithm: one of ``algorithms``.
    /// - Returns: the signature in its JOSE form.
    func sign(_ message: [UInt8], _ algorithm: JWSAlgorithm) throws(JOSEError) -> [UInt8] {
        defer { ERR_clear_error() }
        if kind == .p256 { return try signOnP256(message) }
        let digest = kind == .ed25519 ? nil : EVP_sha256()
        var parameters: OpaquePointer?  // belongs to the context
        guard let context = EVP_MD_CTX_new() else { throw .library(code: 0) }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, &parameters, digest, nil, key) == 1 else { throw .library(code: 0) }
        if algorithm == .ps256 {
            guard EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
            else { throw .library(code: 0) }
        }
        var length = 0
        guard EVP_DigestSign(context, nil, &length, message, message.count) == 1
        else { throw .library(code: 0) }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1
        else { throw .library(code: 0) }
        signature.removeLast(signature.count - length)
        return signature
    }

    /// Signs with ES256 (`EVP_PKEY_sign` of the hash), in a context that is kept for the next time.
    private func signOnP256(_ message: [UInt8]) throws(JOSEError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        var signature = [UInt8](repeating: 0, count: Self.longestOnP256)
        var length = signature.count
        let context = try readyContext()
        guard CBearerdOpenSSL.SHA256(message, message.count, &digest) != nil,
            EVP_PKEY_sign(context, &signature, &length, digest, digest.count) == 1,
            let joined = Self.joined(signature.prefix(length))
        else {
            EVP_PKEY_CTX_free(context)
            throw .library(code: 0)
        }
        contexts.withLock { $0.append(UInt(bitPattern: context)) }
        return joined
    }

    private func readyContext() throws(JOSEError) -> OpaquePointer {
        if let kept = contexts.withLock({ $0.popLast() }), let context = OpaquePointer(bitPattern: kept) {
            return context
        }
        guard let context = EVP_PKEY_CTX_new_from_pkey(nil, key, nil) else { throw .library(code: 0) }
        guard EVP_PKEY_sign_init(context) == 1 else {
            EVP_PKEY_CTX_free(context)
            throw .library(code: 0)
        }
        return context
    }

    /// The two numbers of an ECDSA signature on P-256, concatenated, from OpenSSL's DER (RFC 3279 §2.2.3): a SEQUENCE
    /// of two INTEGERs, with all lengths in one byte; nil for anything else.
    private static func joined(_ der: ArraySlice<UInt8>) -> [UInt8]? {
        var rest = der
        guard rest.popFirst() == 0x30, rest.popFirst().map({ Int($0) }) == rest.count else { return nil }
        var joined: [UInt8] = []
        joined.reserveCapacity(2 * p256Bytes)
        for _ in 0..<2 {
            guard rest.popFirst() == 0x02, let length = rest.popFirst().map({ Int($0) }), length <= rest.count
            else { return nil }
            let digits = rest.prefix(length).drop { $0 == 0 }
            rest = rest.dropFirst(length)
            guard digits.count <= p256Bytes else { return nil }
            joined.append(contentsOf: repeatElement(0, count: p256Bytes - digits.count))
            joined.append(contentsOf: digits)
        }
        return rest.isEmpty ? joined : nil
    }
}
