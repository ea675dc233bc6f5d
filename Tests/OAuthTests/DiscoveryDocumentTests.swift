// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

struct `A discovery document` {
    private let issuer = "https://sso.example"
    private let address = "https://sso.example/.well-known/openid-configuration"
    private let second = "https://sso.example/.well-known/oauth-authorization-server"

    private func harness(_ document: String, second: String? = nil) -> SessionHarness {
        let harness = SessionHarness {
            $0.endpoints = [:]
            $0.issuer = issuer
        }
        harness.server.publish(.status(200, document), at: address)
        if let second { harness.server.publish(.status(200, second), at: self.second) }
        return harness
    }

    @Test(arguments: [
        "", "null", "[]", "7", "{", "\"issuer\"", "{\"issuer\":null}", "{\"issuer\":7}", "<html></html>",
        "{\"issuer\":\"https://sso.example\"", "\u{FEFF}{}", String(repeating: "[", count: 100_000),
        "{\"issuer\":" + String(repeating: "{\"a\":", count: 50_000),
    ])
    func `that is none leaves a misconfiguration, and asks for no token`(text: String) async throws {
        let harness = harness(text)
        try await harness.run {
            #expect(harness.server.bodies.isEmpty)
            #expect(await harness.session.status.state == .misconfigured)
            harness.server.publish(
                .status(200, #"{"issuer":"https://sso.example","token_endpoint":"https://sso.example/t"}"#),
                at: address)
            await harness.pass(.seconds(1))
            #expect(harness.token == "at1")
        }
    }

    @Test func `may begin with a byte order mark`() async throws {
        let harness = harness(
            "\u{FEFF}" + #"{"issuer":"https://sso.example","token_endpoint":"https://sso.example/t"}"#)
        try await harness.run { #expect(harness.token == "at1") }
    }

    @Test(arguments: [
        "7", "null", "[]", #""""#, #""/token""#, #""//sso.example/t""#, #""javascript:alert(1)""#,
        #""file:///etc/passwd""#, #""ftp://sso.example/t""#, #""https://user:word@sso.example/t""#,
        #""https://sso.example/t#f""#, #""https://sso.example/t\r\nX: y""#, #""https://sso.example/a b""#,
        #""https://""#, #""https://sso.example:99999/""#, #""https://sso.example\u0000.evil/""#,
        #""http+unix:/run/docker.sock""#,
    ])
    func `whose endpoint is no URL has none`(value: String) async throws {
        let harness = harness(#"{"issuer":"https://sso.example","token_endpoint":\#(value)}"#)
        try await harness.run {
            #expect(harness.server.bodies.isEmpty)
            #expect(await harness.session.status.lastError?.code == "no_token_endpoint")
        }
    }

    @Test func `cannot lead credentials from https to plain http`() async throws {
        let harness = harness(#"{"issuer":"https://sso.example","token_endpoint":"http://sso.example/t"}"#)
        try await harness.run {
            #expect(harness.server.bodies.isEmpty)
            #expect(await harness.session.status.lastError?.code == "insecure_endpoint")
        }
    }

    @Test func `is completed by the second one, never contradicted`() async throws {
        let first = #"{"issuer":"https://sso.example","token_endpoint":"https://sso.example/t","a":1}"#
        let other =
            #"{"issuer":"https://sso.example","token_endpoint":"https://evil.example/t","revocation_endpoint":"https://sso.example/r","a":2,"b":3}"#
        var configuration = ClientConfiguration(
            name: "default", clientID: "app", grantType: .clientCredentials)
        configuration.issuer = issuer
        let transport = FakeServer(journal: Journal())
        transport.publish(.status(200, first), at: address)
        transport.publish(.status(200, other), at: second)
        let server = AuthorizationServer(
            configuration: configuration, transport: transport, credentials: FakeCredentials([:]),
            clock: ManualClock())
        #expect(try await server.url(of: .token).description == "https://sso.example/t")
        #expect(transport.urls == [address])
        #expect(try await server.url(of: .revocation).description == "https://sso.example/r")
        let metadata = try await server.metadata()
        #expect(metadata.document["a"] == 1)
        #expect(metadata.document["b"] == 3)
        #expect(try await server.url(of: .token).description == "https://sso.example/t")
        let asked = transport.urls.count
        await #expect(throws: TokenFailure.self) { try await server.url(of: .userinfo) }
        #expect(transport.urls.count == asked, "what no document says is not asked for again")
    }

    @Test func `of any bytes traps nothing`() throws {
        let values: [JSONValue] = [
            nil, true, 1, 1.5, "", "https://a.example/x", "http://", [], [nil], [:],
            ["token_endpoint": "https://b/"],
        ]
        let names =
            Endpoint.allCases.map(\.rawValue) + [
                "issuer", "mtls_endpoint_aliases", "grant_types_supported", "",
            ]
        var random = SeededGenerator(seed: 0xD15C_0000_0000_0001)
        for _ in 0..<5000 {
            var members: [(String, JSONValue)] = [("issuer", "https://sso.example")]
            for _ in 0..<Int.random(in: 0...8, using: &random) {
                members.append(
                    (
                        names[Int.random(in: 0..<names.count, using: &random)],
                        values[Int.random(in: 0..<values.count, using: &random)]
                    ))
            }
            let others = members.shuffled(using: &random)
            guard let one = ServiceConfiguration(document: JSONObject(members: members)),
                let two = ServiceConfiguration(document: JSONObject(members: others))
            else { continue }
            let merged = one.merged(with: two)
            #expect(merged.issuer == one.issuer)
            #expect(one.endpoints.allSatisfy { merged.endpoints[$0.key] == $0.value })
        }
    }
}
