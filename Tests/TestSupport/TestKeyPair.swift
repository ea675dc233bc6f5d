// SPDX-License-Identifier: Apache-2.0

/// A key pair of a test's own, made and used for verifying by the `openssl` command.
package final class TestKeyPair: Sendable {
    /// The signature algorithm, as an `alg` (RFC 7518 §3.1).
    package let algorithm: String
    private let directory: TemporaryDirectory

    /// The private key in PEM.
    package var privateKeyFile: String { directory.path("private.pem") }

    /// A self-signed certificate of the key in PEM.
    package var certificateFile: String { directory.path("certificate.pem") }

    package init(_ algorithm: String, keyBits: Int = 2048) throws {
        self.algorithm = algorithm
        directory = try TemporaryDirectory()
        let kind =
            switch algorithm {
            case "ES256": ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            case "EdDSA": ["-algorithm", "ED25519"]
            default: ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(keyBits)"]
            }
        try openssl(["genpkey"] + kind + ["-out", privateKeyFile])
        try openssl(["pkey", "-in", privateKeyFile, "-pubout", "-out", directory.path("public.pem")])
        try openssl([
            "req", "-x509", "-key", privateKeyFile, "-days", "2", "-subj", "/CN=test client", "-out",
            certificateFile,
        ])
    }

    /// The certificate's fingerprint in upper-case hexadecimal digits.
    package func fingerprint(_ digest: String) throws -> String {
        let line = try openssl(["x509", "-in", certificateFile, "-noout", "-fingerprint", "-\(digest)"])
        return line.drop { $0 != "=" }.filter(\.isHexDigit)
    }

    /// Takes a token apart if this key signed it with ``algorithm``; nil if not.
    package func verify(_ token: String) throws -> TestToken? {
        guard let parsed = TestToken(token), parsed.header["alg"].string == algorithm else { return nil }
        let signature = algorithm == "ES256" ? Self.der(of: parsed.signature) : parsed.signature
        let (data, file) = (directory.path("signed"), directory.path("signature"))
        try directory.write("signed", parsed.signed)
        try directory.write("signature", bytes: signature)
        let key = directory.path("public.pem")
        let command: [String]
        switch algorithm {
        case "EdDSA":
            command = [
                "pkeyutl", "-verify", "-pubin", "-inkey", key, "-rawin", "-in", data, "-sigfile", file,
            ]
        case "PS256":
            command = [
                "dgst", "-sha256", "-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:32",
                "-verify", key, "-signature", file, data,
            ]
        default:
            command = ["dgst", "-sha256", "-verify", key, "-signature", file, data]
        }
        return (try? openssl(command)) == nil ? nil : parsed
    }

    /// The two halves of an ES256 signature as a SEQUENCE of two INTEGERs.
    static func der(of signature: [UInt8]) -> [UInt8] {
        guard signature.count == 64 else { return [] }
        func integer(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
            var digits = Array(bytes.drop { $0 == 0 })
            if digits.first.map({ $0 >= 0x80 }) ?? true { digits.insert(0, at: 0) }
            return [2, UInt8(digits.count)] + digits
        }
        let content = integer(signature[..<32]) + integer(signature[32...])
        return [0x30, UInt8(content.count)] + content
    }
}

/// A signed token, taken apart by the tests' own means.
package struct TestToken: Sendable {
    package let header: TestJSON
    package let claims: TestJSON
    /// The text that the signature is over.
    package let signed: String
    package let signature: [UInt8]

    /// Fails for what is not three parts of base64url with JSON in the first two.
    package init?(_ token: String) {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let head = Self.decoded(parts[0]), let body = Self.decoded(parts[1]),
            let signature = Self.decoded(parts[2]),
            let header = TestJSON(parsing: String(decoding: head, as: UTF8.self)),
            let claims = TestJSON(parsing: String(decoding: body, as: UTF8.self))
        else { return nil }
        self.header = header
        self.claims = claims
        self.signature = signature
        signed = parts[0] + "." + parts[1]
    }

    private static func decoded(_ text: String) -> [UInt8]? {
        base64Decoded(text.replacing("-", with: "+").replacing("_", with: "/"))
    }
}
