// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// Proofs of possession (RFC 9449), as they are made.
@Suite struct `A proof of possession` {
    private let wall = WallTime(secondsSinceEpoch: 1_700_000_000)

    private func request(_ target: String, host: String = "api.example:8443") -> HTTPRequest {
        var fields = HTTPFields()
        fields[.host] = host
        return HTTPRequest(method: .get, target: target, fields: fields)
    }

    @Test(arguments: JWSAlgorithm.proofs)
    func `is signed by the key that it shows, and names request and token`(algorithm: JWSAlgorithm) throws {
        let key = try ProofKey.generate(for: algorithm)
        let token = Secret("token")
        let target = DPoPTarget(request("/a%20b/é?q=\"1\""), over: .https)
        let proof = try DPoPBinding(of: token, to: key).proof(for: "GET", at: target, nonce: "n-1")
            .signed(at: wall)
        let jws = try JWS(compact: proof)
        let jwk = try #require(JSONWebKey(key.publicJWK))
        try JSONWebKeySet(keys: [jwk]).verify(jws)
        let claims = try #require(jws.claims)
        #expect(jws.type == "dpop+jwt" && jws.algorithm == algorithm)
        #expect(claims["htm"] == "GET" && claims["htu"] == "https://api.example:8443/a%20b/%C3%A9")
        #expect(claims["nonce"] == "n-1" && claims["iat"] == 1_700_000_000)
        #expect(claims["ath"]?.string == Base64URL.encode(SHA256.digest(Array("token".utf8))))
        #expect(key.publicJWK["d"] == nil)
    }

    @Test func `is never made twice`() throws {
        let key = try ProofKey.generate(for: .es256)
        let proof = DPoPProof(
            key: key, header: DPoPProof.header(of: key), method: "POST",
            target: DPoPTarget(try #require(HTTPURL("https://sso.example/token"))))
        #expect(try proof.signed(at: wall) != proof.signed(at: wall))
    }

    @Test func `is of a key that can be kept and read again`() throws {
        for algorithm in JWSAlgorithm.proofs {
            let key = try ProofKey.generate(for: algorithm)
            let again = try ProofKey(parsing: key.privateJWK)
            #expect(again.thumbprint == key.thumbprint && again.algorithm == algorithm)
        }
        for rubbish in ["", "{}", #"{"kty":"EC","crv":"P-256"}"#, #"{"kty":"oct","k":"AA"}"#] {
            #expect(throws: JOSEError.self) { try ProofKey(parsing: Secret(rubbish)) }
        }
    }

    @Test func `names an asterisk by the server alone`() {
        #expect(DPoPTarget(request("*"), over: .http).uri == "http://api.example:8443")
    }

    @Test func `carries no nonce that is none, and the newest of its own origin`() {
        let nonces = DPoPNonces()
        func answer(_ nonce: String) -> HTTPFields {
            var fields = HTTPFields()
            fields[.dpopNonce] = nonce
            return fields
        }
        for nonce in ["", "a b", #"a"b"#, #"a\b"#, String(repeating: "x", count: 1025)] {
            #expect(!nonces.note(answer(nonce), from: "https://a"))
        }
        #expect(
            nonces.note(answer("one"), from: "https://a") && nonces.note(answer("two"), from: "https://a"))
        #expect(nonces["https://a"] == "two" && nonces["https://b"] == nil)
        for number in 0..<1000 { nonces.note(answer("n"), from: "https://\(number)") }
        #expect(nonces["https://999"] == "n")
    }

    @Test func `lasts with its session in the store`() throws {
        var session = StoredSession(identity: "a", generation: 1, binding: "b")
        session.proofKey = try ProofKey.generate(for: .es256)
        var token = StoredAccessToken(
            token: Secret("t"), generation: 1, expiresAt: wall, lifetime: .seconds(1), request: "r")
        token.isBound = true
        session["r"] = token
        let read = try #require(StoredSession(decoding: session.encoded()))
        #expect(read.proofKey?.thumbprint == session.proofKey?.thumbprint && read["r"]?.isBound == true)
        session.proofKey = nil
        #expect(StoredSession(decoding: session.encoded())?.proofKey == nil)
    }
}

extension JWSAlgorithm {
    fileprivate static let proofs: [JWSAlgorithm] = [.es256, .edDSA]
}
