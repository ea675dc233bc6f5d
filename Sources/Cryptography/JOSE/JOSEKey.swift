// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSON
internal import CBearerdCjose
internal import Glibc

/// A key of cjose (`cjose_jwk_t`), released with the object.
///
/// `@unchecked Sendable`: it is immutable once it is shared, and signing and verifying only read it.
final class JOSEKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// - Parameter make: a function of cjose that makes a key.
    init(_ make: (UnsafeMutablePointer<cjose_err>) -> OpaquePointer?) throws(JOSEError) {
        var error = cjose_err()
        guard let key = make(&error) else { throw JOSEError(error) }
        self.key = key
    }

    deinit {
        cjose_jwk_release(key)
    }

    /// Reads a JWK (RFC 7517 §4, `cjose_jwk_import`).
    ///
    /// - Throws: also for kinds of keys that cjose lacks (OKP).
    convenience init(jwk: JSONObject) throws(JOSEError) {
        let text = jwk.serialized()
        try self.init { error in
            text.withUnsafeBytes { bytes in
                cjose_jwk_import(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, error)
            }
        }
    }

    /// The public part as a JWK, without `kid` and `alg` (`cjose_jwk_to_json`).
    func publicJWK() throws(JOSEError) -> JSONObject { try jwk(withPrivatePart: false) }

    /// The whole key as a JWK.
    func privateJWK() throws(JOSEError) -> JSONObject { try jwk(withPrivatePart: true) }

    private func jwk(withPrivatePart isPrivate: Bool) throws(JOSEError) -> JSONObject {
        var error = cjose_err()
        guard let text = cjose_jwk_to_json(key, isPrivate, &error) else { throw JOSEError(error) }
        defer { free(text) }
        do {
            return try JSONObject(parsing: Array(String(cString: text).utf8))
        } catch {
            throw .malformed
        }
    }

    /// Signs (`cjose_jws_sign`).
    ///
    ///   - Parameter members: the protected header's members, all strings.
    /// - Returns: the compact serialization.
    func sign(_ payload: [UInt8], header members: [(name: String, value: String)]) throws(JOSEError) -> String
    {
        var error = cjose_err()
        guard let header = cjose_header_new(&error) else { throw JOSEError(error) }
        defer { cjose_header_release(header) }
        for member in members {
            guard cjose_header_set(header, member.name, member.value, &error) else { throw JOSEError(error) }
        }
        // cjose needs a pointer even for an empty payload.
        let signed = (payload + [0]).withUnsafeBufferPointer {
            cjose_jws_sign(key, header, $0.baseAddress, payload.count, &error)
        }
        guard let signed else { throw JOSEError(error) }
        defer { cjose_jws_release(signed) }
        var text: UnsafePointer<CChar>?
        // The text belongs to `signed`.
        guard cjose_jws_export(signed, &text, &error), let text else { throw JOSEError(error) }
        return String(cString: text)
    }

    /// Returns true if this key made the signature (`cjose_jws_verify`), by the algorithm in the header.
    func verifies(_ compact: String) -> Bool {
        var compact = compact
        return compact.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let token = cjose_jws_import(characters.baseAddress, characters.count, nil)
                else { return false }
                defer { cjose_jws_release(token) }
                return cjose_jws_verify(token, key, nil)
            }
        }
    }
}
