// SPDX-License-Identifier: Apache-2.0

internal import CCjose
internal import Glibc
internal import JSON

/// A key of cjose's (`cjose_jwk_t`), released with the object.
///
/// `@unchecked Sendable`: it is changed only before anybody else sees it, and signing and verifying read it.
final class JOSEKey: @unchecked Sendable {
    private let key: OpaquePointer

    /// - Parameter make: one of cjose's functions that make a key.
    /// - Throws: ``JOSEError/library(code:)``.
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
    /// - Throws: ``JOSEError/library(code:)``, for kinds of keys that cjose lacks (OKP) too.
    convenience init(jwk: JSONObject) throws(JOSEError) {
        let text = jwk.serialized()
        try self.init { error in
            text.withUnsafeBytes { bytes in
                cjose_jwk_import(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count, error)
            }
        }
    }

    /// The public part as a JWK, without `kid` and `alg` (`cjose_jwk_to_json`).
    ///
    /// - Throws: ``JOSEError``.
    func publicJWK() throws(JOSEError) -> JSONObject { try jwk(withPrivatePart: false) }

    /// The whole key as a JWK.
    ///
    /// - Throws: ``JOSEError``.
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
    /// - Parameters:
    ///   - payload: any bytes.
    ///   - members: the protected header's members, all strings.
    /// - Returns: the compact serialization.
    /// - Throws: ``JOSEError/library(code:)``.
    func sign(_ payload: [UInt8], header members: [(name: String, value: String)]) throws(JOSEError) -> String
    {
        var error = cjose_err()
        guard let header = cjose_header_new(&error) else { throw JOSEError(error) }
        defer { cjose_header_release(header) }
        for member in members {
            guard cjose_header_set(header, member.name, member.value, &error) else { throw JOSEError(error) }
        }
        // The shortest payload has no bytes, and cjose wants a pointer all the same.
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

    /// Whether this key made the signature (`cjose_jws_verify`), by the algorithm that the header names.
    func verifies(_ compact: String) -> Bool {
        var compact = compact
        return compact.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                guard let token = cjose_jws_import(characters.baseAddress, characters.count, nil) else {
                    return false
                }
                defer { cjose_jws_release(token) }
                return cjose_jws_verify(token, key, nil)
            }
        }
    }
}
