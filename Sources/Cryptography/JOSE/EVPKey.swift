// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL
internal import JSON

/// A private key of OpenSSL's (`EVP_PKEY`), released with the object.
///
/// `@unchecked Sendable`: nothing changes it after `init`, and OpenSSL lets any number of threads sign with one key.
final class EVPKey: @unchecked Sendable {
    /// The kinds of keys that sign for us.
    enum Kind: Sendable {
        case rsa
        case p256
        case ed25519

        /// What such a key signs with unless something else is asked for.
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
    /// Bytes of each of the two numbers that an ES256 signature is made of.
    private static let p256Bytes = 32

    private let key: OpaquePointer
    /// nil for keys of other kinds, and for RSA keys that are too short.
    let kind: Kind?

    /// Takes `key` over.
    private init(_ key: OpaquePointer) {
        self.key = key
        kind = Self.kind(of: key)
    }

    deinit {
        EVP_PKEY_free(key)
    }

    /// What the key can sign with.
    var algorithms: Set<JWSAlgorithm> {
        switch kind {
        case .rsa?: [.rs256, .ps256]
        case .p256?: [.es256]
        case .ed25519?: [.edDSA]
        case nil: []
        }
    }

    /// The public part as a SubjectPublicKeyInfo (RFC 5280 §4.1).
    var publicPart: [UInt8] { Self.publicPart(of: key) }

    /// The same of any key of OpenSSL's (`i2d_PUBKEY`); empty if it has no such form.
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

    /// Reads the first private key of a PEM file (`PEM_read_bio_PrivateKey`); one with a passphrase is refused.
    ///
    /// - Throws: ``JOSEError/malformed``.
    convenience init(pem: Secret) throws(JOSEError) {
        defer { ERR_clear_error() }
        let key = pem.withPlaintextBytes { bytes in
            bytes.withUnsafeBufferPointer { buffer -> OpaquePointer? in
                guard let bio = BIO_new_mem_buf(buffer.baseAddress, CInt(clamping: buffer.count)) else {
                    return nil
                }
                defer { BIO_free(bio) }
                // Without a callback of ours OpenSSL would ask on the terminal.
                return PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil)
            }
        }
        guard let key else { throw .malformed }
        self.init(key)
    }

    /// Reads a private JWK (RFC 7518 §6, RFC 8037 §2).
    ///
    /// - Throws: ``JOSEError/malformed``.
    convenience init(jwk: JSONObject) throws(JOSEError) {
        defer { ERR_clear_error() }
        func bytes(_ name: String) -> [UInt8]? { jwk[name]?.string.flatMap(Base64URL.decode) }
        let key: OpaquePointer?
        switch (jwk["kty"]?.string, jwk["crv"]?.string) {
        case ("RSA", nil):
            // OpenSSL's names for the factors and what follows from them, which a JWK may leave out.
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

    // MARK: Signing

    /// Signs as RFC 7518 §3 and RFC 8037 §3.1 have it (`EVP_DigestSign`).
    ///
    /// - Parameters:
    ///   - message: what is signed.
    ///   - algorithm: one of ``algorithms``.
    /// - Returns: the signature in its JOSE form.
    /// - Throws: ``JOSEError/library(code:)``.
    func sign(_ message: [UInt8], _ algorithm: JWSAlgorithm) throws(JOSEError) -> [UInt8] {
        defer { ERR_clear_error() }
        let digest = kind == .ed25519 ? nil : EVP_sha256()
        var parameters: OpaquePointer?  // belongs to the context
        guard let context = EVP_MD_CTX_new() else { throw .library(code: 0) }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestSignInit(context, &parameters, digest, nil, key) == 1 else {
            throw .library(code: 0)
        }
        if algorithm == .ps256 {
            guard EVP_PKEY_CTX_set_rsa_padding(parameters, RSA_PKCS1_PSS_PADDING) == 1,
                EVP_PKEY_CTX_set_rsa_pss_saltlen(parameters, RSA_PSS_SALTLEN_DIGEST) == 1
            else { throw .library(code: 0) }
        }
        var length = 0
        guard EVP_DigestSign(context, nil, &length, message, message.count) == 1 else {
            throw .library(code: 0)
        }
        var signature = [UInt8](repeating: 0, count: length)
        guard EVP_DigestSign(context, &signature, &length, message, message.count) == 1 else {
            throw .library(code: 0)
        }
        signature.removeLast(signature.count - length)
        return kind == .p256 ? try Self.joined(signature) : signature
    }

    /// The two numbers of an ECDSA signature, one after the other, from the DER that OpenSSL makes.
    private static func joined(_ der: [UInt8]) throws(JOSEError) -> [UInt8] {
        let signature = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &start, buffer.count)
        }
        guard let signature else { throw .library(code: 0) }
        defer { ECDSA_SIG_free(signature) }
        var joined = [UInt8](repeating: 0, count: 2 * p256Bytes)
        let isWritten = joined.withUnsafeMutableBufferPointer { buffer in
            let half = CInt(p256Bytes)
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), buffer.baseAddress, half) == half
                && BN_bn2binpad(
                    ECDSA_SIG_get0_s(signature), buffer.baseAddress?.advanced(by: p256Bytes), half) == half
        }
        guard isWritten else { throw .library(code: 0) }
        return joined
    }
}
