// SPDX-License-Identifier: Apache-2.0

import BearerdJSON
import BearerdTestSupport
import Testing

@testable import BearerdCryptography

@Suite struct `A private key` {
    /// The key of RFC 7515 appendix A.2.1.
    private static let rsa: JSONObject = [
        "kty": "RSA", "e": "AQAB",
        "n": .string(
            "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SF"
                + "d2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-"
                + "UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2"
                + "ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
        "d": .string(
            "Eq5xpGnNCivDflJsRQBXHx1hdR1k6Ulwe2JZD50LpXyWPEAeP88vLNO97IjlA7_GQ5sLKMgvfTeXZx9SE-7YwVol2NXOoAJe46sui395"
                + "IW_GO-pWJ1O0BkTGoVEn2bKVRUCgu-GjBVaYLU6f3l9kJfFNS3E0QbVdxzubSu3Mkqzjkn439X0M_V51gfpRLI9JYanrC4D4qAdGc"
                + "opV_0ZHHzQlBjudU2QvXt4ehNYTCBr6XCLQUShb1juUO1ZdiYoFaFQT5Tw8bGUl_x_jTj3ccPDVZFD9pIuhLhBOneufuBiB4cS98l"
                + "2SR_RQyGWSeWjnczT0QU91p1DhOVRuOopznQ"),
        "p": .string(
            "4BzEEOtIpmVdVEZNCqS7baC4crd0pqnRH_5IB3jw3bcxGn6QLvnEtfdUdiYrqBdss1l58BQ3KhooKeQTa9AB0Hw_Py5PJdTJNPY8cQn7"
                + "ouZ2KKDcmnPGBY5t7yLc1QlQ5xHdwW1VhvKn-nXqhJTBgIPgtldC-KDV5z-y2XDwGUc"),
        "q": .string(
            "uQPEfgmVtjL0Uyyx88GZFF1fOunH3-7cepKmtH4pxhtCoHqpWmT8YAmZxaewHgHAjLYsp1ZSe7zFYHj7C6ul7TjeLQeZD_YwD66t62wD"
                + "mpe_HlB-TnBA-njbglfIsRLtXlnDzQkv5dTltRJ11BKBBypeeF6689rjcJIDEz9RWdc"),
        "dp": .string(
            "BwKfV3Akq5_MFZDFZCnW-wzl-CCo83WoZvnLQwCTeDv8uzluRSnm71I3QCLdhrqE2e9YkxvuxdBfpT_PI7Yz-FOKnu1R6HsJeDCjn12S"
                + "k3vmAktV2zb34MCdy7cpdTh_YVr7tss2u6vneTwrA86rZtu5Mbr1C1XsmvkxHQAdYo0"),
        "dq": .string(
            "h_96-mK1R_7glhsum81dZxjTnYynPbZpHziZjeeHcXYsXaaMwkOlODsWa7I9xXDoRwbKgB719rrmI2oKr6N3Do9U0ajaHF-NKJnwgjMd"
                + "2w9cjz3_-kyNlxAr2v4IKhGNpmM5iIgOS1VZnOZ68m6_pbLBSp3nssTdlqvd0tIiTHU"),
        "qi": .string(
            "IYd7DHOhrWvxkwPQsRM2tOgrjbcrfvtQJipd-DlcxyVuuM9sQLdgjVk2oy26F0EmpScGLq2MowX7fhd_QJQ3ydy5cY7YIBi87w93IKLE"
                + "dfnbJtoOPLUW0ITrJReOgo1cq9SbsxYawBgfp_gh6A5603k2-ZQwVK0JKSHuLFkuQ3U"),
    ]
    /// The key of RFC 7515 appendix A.3.1.
    private static let p256: JSONObject = [
        "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        "d": "jpsQnnGQmL-YBIffH1136cspYG6-0iY7X1fCE9-E9LI",
    ]
    /// The key of RFC 8037 appendix A.1.
    private static let ed25519: JSONObject = [
        "kty": "OKP", "crv": "Ed25519", "d": "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
        "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    ]

    private func key(_ jwk: JSONObject, without names: [String] = []) throws -> PrivateKey {
        var jwk = jwk
        for name in names { jwk[name] = nil }
        return try PrivateKey(parsing: Secret(bytes: jwk.serialized()))
    }

    private func key(inFile path: String) throws -> PrivateKey {
        try PrivateKey(parsing: Secret(bytes: TemporaryDirectory.contents(of: path)))
    }

    @Test(arguments: [[], ["p", "q", "dp", "dq", "qi"]])
    func `makes the RS256 example of RFC 7515 appendix A.2, byte for byte`(missing: [String]) throws {
        let claims =
            "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
        let payload = try #require(Base64URL.decode(claims))
        let signed = try key(Self.rsa, without: missing).sign(
            payload: payload, algorithm: .rs256, header: [:])
        #expect(
            signed == "eyJhbGciOiJSUzI1NiJ9.\(claims)."
                + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJ"
                + "dbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN"
                + "9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXL"
                + "IhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")
    }

    @Test func `makes the EdDSA example of RFC 8037 appendix A.4, byte for byte`() throws {
        let payload = Array("Example of Ed25519 signing".utf8)
        let signed = try key(Self.ed25519).sign(payload: payload, algorithm: nil, header: [:])
        #expect(
            signed == "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
                + "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg")
    }

    @Test func `makes ES256 signatures that the key of RFC 7515 appendix A.3 verifies`() throws {
        let key = try key(Self.p256)
        let publicKey: JSONValue = ["keys": [.object(Self.p256)]]
        let set = try JSONWebKeySet(parsing: publicKey.serialized())
        // Each of the two numbers is short now and then: their leading zeros must stay.
        for number in 0..<300 {
            try set.verify(JWS(compact: key.sign(["n": .integer(Int64(number))])))
        }
    }

    @Test(arguments: ["RS256", "PS256", "ES256", "EdDSA"])
    func `in PEM signs what openssl verifies`(name: String) throws {
        let pair = try TestKeyPair(name)
        let key = try key(inFile: pair.privateKeyFile)
        let token = try key.sign(["sub": "é"], algorithm: JWSAlgorithm(rawValue: name), header: ["kid": "k1"])
        let verified = try #require(try pair.verify(token))
        #expect(verified.claims["sub"].string == "é")
        #expect(verified.header["kid"].string == "k1")
        #expect(verified.header["typ"].string == "JWT")
        #expect(try pair.verify(token.replacing("ey", with: "fy")) == nil)
    }

    @Test(arguments: [("RS256", "RSA"), ("PS256", "RSA"), ("ES256", "EC"), ("EdDSA", "OKP")])
    func `publishes what verifies it, and no private member`(name: String, type: String) throws {
        let (pair, algorithm) = (try TestKeyPair(name), JWSAlgorithm(rawValue: name))
        for _ in 0..<(name == "ES256" ? 300 : 1) {
            let key = try name == "ES256" ? PrivateKey.p256() : key(inFile: pair.privateKeyFile)
            let jwk = try #require(key.publicJWK(algorithm: algorithm))
            #expect(jwk["kty"]?.string == type && jwk["use"]?.string == "sig" && jwk["alg"]?.string == name)
            #expect(["d", "p", "q", "dp", "dq", "qi", "k"].allSatisfy { jwk[$0] == nil })
            let published = try #require(JSONWebKey(jwk))
            #expect(published.keyID == published.thumbprint)
            #expect(try published.verifies(JWS(compact: key.sign(["sub": "x"], algorithm: algorithm))))
        }
        let key = try key(inFile: pair.privateKeyFile)
        #expect(key.publicJWK(keyID: "k1")?["kid"]?.string == "k1")
    }

    @Test func `in the older forms of PEM is read too`() throws {
        let directory = try TemporaryDirectory()
        let pair = try TestKeyPair("RS256")
        let old = directory.path("old.pem")
        try openssl(["rsa", "-in", pair.privateKeyFile, "-traditional", "-out", old])
        #expect(try pair.verify(key(inFile: old).sign([:])) != nil)
        try openssl(["ecparam", "-name", "prime256v1", "-genkey", "-out", old])
        #expect(try key(inFile: old).algorithm == .es256)
    }

    @Test func `signs only with what fits it`() throws {
        #expect(throws: JOSEError.algorithmNotAllowed) { try key(Self.p256).sign([:], algorithm: .rs256) }
        #expect(throws: JOSEError.algorithmNotAllowed) { try key(Self.ed25519).sign([:], algorithm: .es256) }
        #expect(throws: JOSEError.algorithmNotAllowed) {
            try key(Self.rsa).sign([:], algorithm: JWSAlgorithm(rawValue: "none"))
        }
        var misnamed = Self.p256
        misnamed["alg"] = "RS256"
        #expect(throws: JOSEError.algorithmNotAllowed) { try key(misnamed) }
    }

    @Test func `brings its kid and alg along`() throws {
        var named = Self.rsa
        named["kid"] = "2026"
        named["alg"] = "PS256"
        #expect(try key(named).keyID == "2026")
        #expect(try JWS(compact: key(named).sign([:])).algorithm == .ps256)
        #expect(try key(Self.rsa).keyID == nil)
    }

    @Test func `that cannot be used is refused, and asks nobody for a passphrase`() throws {
        let directory = try TemporaryDirectory()
        let locked = directory.path("locked.pem")
        let pair = try TestKeyPair("RS256")
        try openssl(["rsa", "-in", pair.privateKeyFile, "-aes128", "-passout", "pass:x", "-out", locked])
        let short = try TestKeyPair("RS256", keyBits: 1024)
        let otherCurve = directory.path("p384.pem")
        try openssl(["ecparam", "-name", "secp384r1", "-genkey", "-noout", "-out", otherCurve])
        for file in [locked, short.privateKeyFile, otherCurve, pair.certificateFile, "/dev/null"] {
            #expect(throws: JOSEError.malformed, "\(file)") { try key(inFile: file) }
        }
        for member in ["n", "e", "d", "kty"] {
            #expect(throws: JOSEError.malformed) { try key(Self.rsa, without: [member]) }
        }
        for jwk in [Self.p256, Self.ed25519] {
            for member in ["d", "crv", "kty"] {
                #expect(throws: JOSEError.malformed) { try key(jwk, without: [member]) }
            }
        }
    }

    @Test func `of rubbish traps nothing`() throws {
        let values: [JSONValue?] = ["", "!", "AA", "AQAB", 7, nil, "RSA", "P-256", "OKP", "EC", "Ed25519"]
        var random = RepeatableGenerator(seed: 0x05E0_0000_0000_0001)
        for _ in 0..<2000 {
            var jwk = [Self.rsa, Self.p256, Self.ed25519][Int.random(in: 0..<3, using: &random)]
            for name in jwk.names where Int.random(in: 0..<4, using: &random) == 0 {
                jwk[name] = values[Int.random(in: 0..<values.count, using: &random)]
            }
            _ = try? key(jwk).sign(["a": 1])
            let bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            _ = try? PrivateKey(parsing: Secret(bytes: bytes))
        }
    }

    @Test func `is named by the thumbprints of its certificate`() throws {
        let pair = try TestKeyPair("RS256")
        let certificate = try #require(
            Certificate(pem: TemporaryDirectory.contents(of: pair.certificateFile)))
        func digits(_ text: String) -> String {
            (Base64URL.decode(text) ?? []).map { byte in
                let hex = String(byte, radix: 16, uppercase: true)
                return byte < 16 ? "0" + hex : hex
            }.joined()
        }
        #expect(digits(certificate.thumbprint) == (try pair.fingerprint("sha1")))
        #expect(digits(certificate.thumbprintSHA256) == (try pair.fingerprint("sha256")))
        #expect(Certificate(pem: TemporaryDirectory.contents(of: pair.privateKeyFile)) == nil)
        #expect(try certificate.certifies(key(inFile: pair.privateKeyFile)))
        #expect(try !certificate.certifies(key(Self.rsa)))
        for name in ["ES256", "EdDSA"] {
            let other = try TestKeyPair(name)
            let own = try #require(Certificate(pem: TemporaryDirectory.contents(of: other.certificateFile)))
            #expect(try own.certifies(key(inFile: other.privateKeyFile)))
        }
    }
}

extension PrivateKey {
    /// A fresh key for ES256; its coordinates are short now and then.
    fileprivate static func p256() throws -> PrivateKey {
        try PrivateKey(parsing: ProofKey.generate(for: .es256).privateJWK)
    }
}
