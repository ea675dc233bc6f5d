// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdSystem
import Testing

@testable import OAuth

/// Questions about tokens that only their server can read (RFC 7662).
@Suite struct `Introspection of a token` {
    private let clock = ManualClock()
    private let server = FakeServer(journal: Journal())
    private let secret = FakeSecret()

    private func introspector() throws -> TokenIntrospector {
        var client = ClientConfiguration(name: "api", clientID: "api", grantType: .clientCredentials)
        secret.set("s3cret")
        client.authentication = .basic
        client.basicEncoding = .form
        client.endpoints[.introspection] = HTTPURL("https://sso.example/introspect")
        return TokenIntrospector(
            client, executor: try ThreadExecutor(named: "introspector"), clock: clock, transport: server,
            credentials: secret)
    }

    private func answer(_ body: String, status: Int = 200) async throws -> VerifiedAccessToken? {
        server.script(.status(status, body))
        return try await introspector().introspect(Secret("opaque+/="))
    }

    @Test func `asks as the resource server's own client, and reads an active token's claims`() async throws {
        let token = try #require(
            try await answer(
                #"{"active":true,"scope":"a b","client_id":"app","sub":"alice","exp":1700000300,"aud":["api"]}"#
            ))
        #expect(token.subject == "alice" && token.scope == ["a", "b"] && token.audience == ["api"])
        #expect(server.bodies == ["token=opaque%2B%2F%3D&token_type_hint=access_token"])
        #expect(server.credentials.first?.hasPrefix("Basic ") == true)
    }

    @Test func `takes a token for dead that its server or its own claims call so`() async throws {
        #expect(try await answer(#"{"active":false,"sub":"alice"}"#) == nil)
        #expect(try await answer(#"{"active":true,"exp":1699999940}"#) == nil)
        #expect(try await answer(#"{"active":true,"nbf":1700000061}"#) == nil)
    }

    @Test(arguments: [#"{"active":"true"}"#, "{}", "true", "", "<html>", #"{"active":1}"#])
    func `believes no answer that does not say it`(body: String) async throws {
        await #expect(throws: TokenFailure.self) { try await answer(body) }
    }

    @Test(arguments: [
        (401, TokenFailure.Kind.misconfigured), (403, .misconfigured), (503, .transient),
        (302, .misconfigured),
    ])
    func `tells a refusal of the client from a token that is dead`(
        status: Int, kind: TokenFailure.Kind
    ) async throws {
        let error = try await #require(throws: TokenFailure.self) {
            try await answer(#"{"error":"invalid_client"}"#, status: status)
        }
        #expect(error.kind == kind)
    }

    @Test(arguments: ["", "a b", "a\r\nb", "é"])
    func `asks nothing about what can be no token`(text: String) async throws {
        #expect(try await introspector().introspect(Secret(text)) == nil)
        #expect(server.urls.isEmpty)
    }
}
