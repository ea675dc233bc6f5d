// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// What becomes of the tokens beside an ID token that is not believed, or cannot be judged.
@Suite struct `Tokens beside an id token` {
    private static let issuer = "https://sso.example"

    private func harness(
        sharing other: SessionHarness? = nil, _ change: (inout ClientConfiguration) -> Void = { _ in }
    ) -> SessionHarness {
        SessionHarness(grantType: .authorizationCode, sharing: other) { configuration in
            configuration.endpoints[.authorization] = HTTPURL("\(Self.issuer)/auth")
            configuration.endpoints[.keys] = HTTPURL("\(Self.issuer)/keys")
            configuration.endpoints[.revocation] = HTTPURL("\(Self.issuer)/revoke")
            change(&configuration)
        }
    }

    private func code(nonce: String = "n1") -> AuthorizationCode {
        AuthorizationCode(
            code: Secret("the-code"), redirectURI: "http://127.0.0.1:1/callback",
            verifier: Secret("the-verifier"), nonce: Secret(nonce))
    }

    private func answer(
        _ key: SigningKey, of subject: String, nonce: String = "n1"
    ) throws -> FakeServer.Reply {
        let claims: JSONObject = [
            "iss": .string(Self.issuer), "aud": "app", "sub": .string(subject), "exp": 1_700_000_900,
            "iat": 1_700_000_000, "nonce": .string(nonce),
        ]
        let idToken = try key.sign(claims.serialized())
        return .status(
            200,
            #"{"access_token":"at-\#(subject)","expires_in":300,"refresh_token":"rt-\#(subject)","id_token":"\#(idToken)"}"#
        )
    }

    private func publish(_ key: SigningKey, on harness: SessionHarness) {
        let set: JSONValue = ["keys": .array([key.publicJWK.map(JSONValue.object) ?? .null])]
        let text = String(decoding: set.serialized(), as: UTF8.self)
        harness.server.publish(.status(200, text), at: "\(Self.issuer)/keys")
    }

    private struct Dropped { weak var session: AuthSession? }

    private func isRevoked(_ token: String, at harness: SessionHarness) -> Bool {
        harness.server.bodies.contains { $0.hasPrefix("token=\(token)&") }
    }

    @Test func `are not asked for while the keys cannot be had, so that the code stays unused`() async throws
    {
        let harness = harness()
        let key = try SigningKey.generateP256()
        harness.server.publish(.status(503), at: "\(Self.issuer)/keys")
        try await harness.run {
            await #expect(throws: LoginError.self) { try await harness.session.logIn(with: code()) }
            #expect(harness.server.bodies.isEmpty)
            publish(key, on: harness)
            harness.server.script(try answer(key, of: "alice"))
            try await harness.session.logIn(with: code())
            #expect(harness.token == "at-alice")
        }
    }

    @Test(arguments: ["alice", "mallory"])
    func `are judged and stored though the session is let go of before they come`(
        subject: String
    ) async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish(key, on: harness)
        harness.server.script(try answer(key, of: "alice"), .held)
        try await harness.run {
            try await harness.session.logIn(with: code())
            var session: AuthSession? = AuthSession(
                configuration: await harness.session.engine.configured, executor: harness.session.executor,
                clock: harness.clock, transport: harness.server, store: harness.store,
                credentials: harness.secret, observer: harness.journal)
            let dropped = Dropped(session: session)
            try? await session?.refresh(waitingAtMost: .zero)
            await harness.settle()
            session = nil
            await harness.settle()
            harness.server.release(with: try answer(key, of: subject))
            await harness.settle()
            let stored = try #require(harness.store.stored())
            #expect(stored.subject == "alice")
            #expect((stored.refreshToken == nil) == (subject == "mallory"))
            #expect(dropped.session == nil)
        }
    }

    @Test func `are revoked where a login's is not believed`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish(key, on: harness)
        try await harness.run {
            harness.server.script(try answer(key, of: "alice", nonce: "another"), .status(200))
            await #expect(throws: LoginError.self) { try await harness.session.logIn(with: code()) }
            await harness.settle()
            #expect(isRevoked("rt-alice", at: harness))
        }
    }

    @Test func `are revoked, and end the session, where a refresh's is of another person`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish(key, on: harness)
        try await harness.run {
            harness.server.script(try answer(key, of: "alice"))
            try await harness.session.logIn(with: code())
            harness.server.script(try answer(key, of: "bob"), .status(200))
            await #expect(throws: TokenError.self) { try await harness.session.refresh() }
            await harness.settle()
            #expect(isRevoked("rt-bob", at: harness))
            #expect(await harness.session.status.state == .loginRequired)
            // Not by a person's word either.
            await #expect(throws: TokenError.loginRequired) { try await harness.session.refresh() }
            await harness.pass(.seconds(600))
            #expect(!harness.server.bodies.contains { $0.contains("refresh_token=rt-bob") })
        }
    }

    @Test func `are judged by what the login has asked for, whatever is configured meanwhile`() async throws {
        let before = harness { $0.scope = ["openid", "email"] }
        let key = try SigningKey.generateP256()
        publish(key, on: before)
        var answered: AuthorizationCode?
        try await before.run {
            let request = try await before.session.authorizationRequest(redirectURI: "http://127.0.0.1:1/")
            let state = request.state.withPlaintext { $0 }
            if case .granted(let code) = try request.response(in: "code=c&state=\(state)") { answered = code }
        }
        let granted = try #require(answered)
        let nonce = granted.nonce.withPlaintext { $0 }
        let after = harness(sharing: before) { $0.scope = ["api"] }
        try await after.run {
            after.server.script(try answer(key, of: "alice", nonce: "another"), .status(200))
            await #expect(throws: LoginError.self) { try await after.session.logIn(with: granted) }
            after.server.script(try answer(key, of: "alice", nonce: nonce))
            try await after.session.logIn(with: granted)
            #expect(await after.session.status.scope == ["openid", "email"])
        }
    }
}
