// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import BearerdSystem

@testable import OAuth

/// A resource server with an issuer, both in the test's hand.
struct ResourceServerHarness {
    static let issuer = "https://sso.example"
    static let keysURL = "https://sso.example/keys"

    let clock = ManualClock()
    let server = FakeServer(journal: Journal())
    let key: SigningKey
    let proofKey: ProofKey
    let verifier: AccessTokenVerifier

    init(
        remembering capacity: Int = 100_000, _ change: (inout AccessTokenRules) -> Void = { _ in }
    ) throws {
        key = try SigningKey.generateP256()
        proofKey = try ProofKey.generate(for: .es256)
        var rules = AccessTokenRules(issuer: Self.issuer, audience: "https://api.example")
        change(&rules)
        verifier = AccessTokenVerifier(
            rules, executor: try ThreadExecutor(named: "verifier"), clock: clock, transport: server,
            rememberingProofs: capacity)
        publish([key])
        server.publish(
            .status(200, #"{"issuer":"\#(Self.issuer)","jwks_uri":"\#(Self.keysURL)"}"#),
            at: "\(Self.issuer)/.well-known/openid-configuration")
    }

    func publish(_ keys: [SigningKey]) {
        let set: JSONObject = ["keys": .array(keys.compactMap(\.publicJWK).map(JSONValue.object))]
        server.publish(.status(200, String(decoding: set.serialized(), as: UTF8.self)), at: Self.keysURL)
    }

    /// A token that every rule allows, unless `change` breaks one.
    func token(
        signedBy other: SigningKey? = nil, type: String = "at+jwt",
        _ change: (inout JSONObject) -> Void = { _ in }
    ) throws -> String {
        var claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": "https://api.example", "sub": "alice", "client_id": "app",
            "exp": 1_700_000_300, "iat": 1_700_000_000, "jti": "t1", "scope": "orders:read profile",
        ]
        change(&claims)
        return try (other ?? key).sign(claims.serialized(), type: type)
    }

    /// A token that is bound to ``proofKey``.
    func boundToken() throws -> String {
        try token { $0["cnf"] = ["jkt": .string(proofKey.thumbprint)] }
    }

    func proof(
        _ token: String, signedBy other: ProofKey? = nil, method: String = "GET",
        url: String = "https://api.example/orders", at offset: Int64 = 0, as identifier: String = "p1"
    ) throws -> String {
        guard let target = HTTPURL(url).map(DPoPTarget.init) else { throw JOSEError.malformed }
        return try DPoPBinding(of: Secret(token), to: other ?? proofKey).proof(
            for: method, at: target, nonce: nil
        )
        .signed(at: WallTime(secondsSinceEpoch: 1_700_000_000 + offset), as: identifier)
    }

    func request(_ authorization: String..., proofs: [String] = []) -> ResourceRequest {
        var request = ResourceRequest(
            method: "GET", url: "https://api.example/orders?page=2", authorization: authorization)
        request.proofs = proofs
        return request
    }

    /// The error that a request is refused with; nil if it is accepted.
    func verdict(
        _ request: ResourceRequest, requiring scope: [String] = []
    ) async -> AccessTokenError? {
        do throws(AccessTokenError) {
            _ = try await verifier.verify(request, requiring: scope)
            return nil
        } catch {
            return error
        }
    }

    /// How often the keys were asked for.
    var fetches: Int { server.urls.count { $0 == Self.keysURL } }
}
