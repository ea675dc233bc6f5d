// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import Testing

@Suite struct `Signed tokens` {
    private static let claims =
        "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"

    private func set(_ keys: JSONObject?...) throws -> JSONWebKeySet {
        let document: JSONValue = ["keys": .array(keys.compactMap { $0.map(JSONValue.object) })]
        return try JSONWebKeySet(parsing: document.serialized())
    }

    @Test func `the HS256 example of RFC 7515 appendix A.1 verifies`() throws {
        let secret = try #require(
            Base64URL.decode(
                "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"))
        let token = try JWS(
            compact:
                "eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.\(Self.claims).dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
        )
        try SigningKey(secret: Secret(bytes: secret)).verify(token)
        #expect(token.claims?["iss"] == "joe")
        #expect(token.claims?["exp"] == 1_300_819_380)
        #expect(token.type == "JWT")
        #expect(throws: JOSEError.signatureMismatch) {
            try SigningKey(secret: Secret("another")).verify(token)
        }
    }

    @Test func `the RS256 example of RFC 7515 appendix A.2 verifies`() throws {
        let key: JSONObject = [
            "kty": "RSA", "e": "AQAB",
            "n": .string(
                "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yR"
                    + "T-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-"
                    + "KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco"
                    + "9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ"),
        ]
        let token = try JWS(
            compact: "eyJhbGciOiJSUzI1NiJ9.\(Self.claims)."
                + "cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJ"
                + "dbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN"
                + "9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXL"
                + "IhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw")
        try set(key).verify(token)
    }

    @Test func `the ES256 example of RFC 7515 appendix A.3 verifies`() throws {
        let key: JSONObject = [
            "kty": "EC", "crv": "P-256", "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
            "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
        ]
        let signature =
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
        try set(key).verify(JWS(compact: "eyJhbGciOiJFUzI1NiJ9.\(Self.claims).\(signature)"))
        let other = "e" + signature.dropFirst()
        #expect(throws: JOSEError.signatureMismatch) {
            try set(key).verify(JWS(compact: "eyJhbGciOiJFUzI1NiJ9.\(Self.claims).\(other)"))
        }
    }

    @Test func `the kid of a generated key is its RFC 7638 thumbprint`() throws {
        let key = try SigningKey.generateP256()
        let jwk = try #require(key.publicJWK)
        let canonical =
            #"{"crv":"P-256","kty":"EC","x":"\#(jwk["x"]?.string ?? "")","y":"\#(jwk["y"]?.string ?? "")"}"#
        #expect(key.keyID == Base64URL.encode(SHA256.digest(Array(canonical.utf8))))
        #expect(jwk["kid"]?.string == key.keyID)
    }

    @Test(arguments: [JWSAlgorithm.rs256, .es256])
    func `what a key signed, its public part verifies and no other`(algorithm: JWSAlgorithm) throws {
        func generate() throws -> SigningKey {
            algorithm == .rs256 ? try .generateRSA() : try .generateP256()
        }
        let key = try generate()
        let other = try generate()
        #expect(key.publicJWK?["d"] == nil)
        for payload in ["", "{}", #"{"sub":"é"}"#] {
            let token = try JWS(compact: key.sign(Array(payload.utf8), type: "at+jwt"))
            #expect(token.payload == Array(payload.utf8))
            #expect(token.type == "at+jwt")
            #expect(token.keyID == key.keyID)
            try set(other.publicJWK, key.publicJWK).verify(token)
            #expect(throws: JOSEError.noKey) { try set(other.publicJWK).verify(token) }
            var renamed = other.publicJWK
            renamed?["kid"] = key.keyID.map(JSONValue.string)
            #expect(throws: JOSEError.signatureMismatch) { try set(renamed).verify(token) }
        }
    }

    @Test func `a public key is never taken for a shared secret`() throws {
        let key = try SigningKey.generateRSA()
        let text = try #require(key.publicJWK?.serialized())
        let forged = try JWS(compact: SigningKey(secret: Secret(bytes: text)).sign(Array("{}".utf8)))
        #expect(throws: JOSEError.algorithmNotAllowed) { try set(key.publicJWK).verify(forged) }
        #expect(throws: JOSEError.noKey) { try set(key.publicJWK).verify(forged, allowing: [.hs256]) }
        let secret: JSONObject = ["kty": "oct", "k": .string(Base64URL.encode(text))]
        #expect(try set(secret).keys.isEmpty)
    }

    @Test func `a token without a signature is refused`() throws {
        let header = Base64URL.encode(Array(#"{"alg":"none"}"#.utf8))
        let token = try JWS(compact: "\(header).\(Self.claims).")
        #expect(throws: JOSEError.algorithmNotAllowed) { try set().verify(token) }
        #expect(throws: JOSEError.noKey) {
            try set().verify(token, allowing: [JWSAlgorithm(rawValue: "none")])
        }
    }

    @Test func `an extension that must be understood is refused`() {
        let header = Base64URL.encode(Array(#"{"alg":"RS256","crit":["b64"],"b64":false}"#.utf8))
        #expect(throws: JOSEError.criticalExtension) { try JWS(compact: "\(header).e30.AA") }
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b.c", "e30.e30.AA", "e30..", "W10.e30.AA", "eyJhbGciOjF9.e30.AA",
        "eyJhbGciOiJSUzI1NiJ9.e30",
        "eyJhbGciOiJSUzI1NiJ9=.e30.AA", "eyJhbGciOiJSUzI1NiJ9.e30.A A", "eyJhbGciOiJSUzI1NiJ9.e30.AA.AA",
        "é.é.é",
    ])
    func `what is no token is refused`(text: String) {
        #expect(throws: JOSEError.malformed) { try JWS(compact: text) }
    }

    /// RFC 8037, appendix A.
    @Test func `a token signed with Ed25519 is verified`() throws {
        let key: JSONObject = [
            "kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
        ]
        let signed = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc"
        let signature =
            "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
        try set(key).verify(JWS(compact: "\(signed).\(signature)"))
        #expect(throws: JOSEError.signatureMismatch) {
            try set(key).verify(JWS(compact: "eyJhbGciOiJFZERTQSJ9.e30.\(signature)"))
        }
        #expect(throws: JOSEError.signatureMismatch) { try set(key).verify(JWS(compact: "\(signed).AA")) }
    }

    @Test(arguments: [JWSAlgorithm.hs256, .hs384, .hs512])
    func `a shared secret verifies what it signed by the same algorithm`(algorithm: JWSAlgorithm) throws {
        let secret = Secret(String(repeating: "s", count: 64))
        let key = try SigningKey(secret: secret, algorithm: algorithm)
        try key.verify(JWS(compact: key.sign([1, 2])))
        let other = try SigningKey(secret: Secret("other"), algorithm: algorithm)
        #expect(throws: JOSEError.signatureMismatch) { try key.verify(JWS(compact: other.sign([1, 2]))) }
    }

    @Test func `keys that nobody knows are skipped`() throws {
        let good = try SigningKey.generateP256()
        let jwk = try #require(good.publicJWK)
        let odd: [JSONValue] = [
            ["kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHUR"],
            ["kty": "OKP", "crv": "X25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"],
            ["kty": "new"], [:], 7,
            ["kty": "EC", "crv": "P-256", "x": "AA", "y": "AA"], ["kty": "RSA", "n": "!", "e": "AQAB"],
            ["kty": "EC", "crv": "P-384", "x": jwk["x"] ?? nil, "y": jwk["y"] ?? nil],
            [
                "kty": "EC", "crv": "P-256", "x": jwk["x"] ?? nil,
                "y": .string(Base64URL.encode(Array(repeating: 1, count: 70))),
            ],
            [
                "kty": "EC", "crv": "P-256", "x": jwk["x"] ?? nil,
                "y": .string((jwk["y"]?.string ?? "") + "*"),
            ],
            ["kty": "RSA", "n": .string(Base64URL.encode(Array(repeating: 255, count: 4096))), "e": "AQAB"],
            ["kty": "RSA", "n": .string(Base64URL.encode(Array(repeating: 255, count: 256))), "e": ""],
            ["kty": "RSA"],
            ["kty": 1, "kid": []], ["kty": "EC", "crv": "P-256", "x": jwk["x"] ?? nil, "y": jwk["x"] ?? nil],
        ]
        var encrypting = jwk
        encrypting["use"] = "enc"
        let keys = odd + [.object(encrypting), .object(jwk)]
        let document: JSONValue = ["keys": .array(keys)]
        let set = try JSONWebKeySet(parsing: document.serialized())
        #expect(set.keys.map(\.keyID) == [good.keyID])
    }

    @Test(arguments: ["", "[]", "{}", #"{"keys":{}}"#, "<html>"])
    func `what is no set of keys is refused`(text: String) {
        #expect(throws: JOSEError.malformed) { try JSONWebKeySet(parsing: Array(text.utf8)) }
    }
}
