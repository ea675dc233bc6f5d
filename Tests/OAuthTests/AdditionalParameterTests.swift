// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import Testing

@testable import OAuth

/// What a server says beyond the protocol, and what is said to it.
struct `Parameters beyond the protocol` {
    @Test func `of token answers are kept, the newest of each, over restarts`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(
            .status(
                200,
                #"{"access_token":"a","expires_in":300,"instance_url":"https://i.example","issued_at":17,"n":[1]}"#
            ),
            .status(200, #"{"access_token":"b","expires_in":300,"instance_url":"https://j.example"}"#))
        try await harness.run("rt0") {
            let first = await harness.session.additionalParameters
            #expect(
                first.names == ["instance_url", "issued_at", "n"]
                    && first["instance_url"] == "https://i.example")
            #expect(first.number("issued_at") == 17 && "\(first)" == "[additional parameters]")
            try await harness.session.refresh(waitingAtMost: .seconds(1))
            let second = await harness.session.additionalParameters
            #expect(second["instance_url"] == "https://j.example" && second.number("issued_at") == 17)
            let stored = try #require(harness.store.stored())
            #expect(StoredSession(decoding: stored.encoded())?.additionalParameters == second)
        }
    }

    /// Else the session that is stored with it could not be read again.
    @Test func `with a name that no strict parser reads are not kept`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(
            .status(200, #"{"access_token":"a","refresh_token":"rt1","a\u0000b":1,"c":2,"expires_in":300}"#))
        try await harness.run("rt0") {
            #expect(await harness.session.additionalParameters.names == ["c"])
            let stored = try #require(harness.store.stored())
            #expect(StoredSession(decoding: stored.encoded())?.refreshToken?.matches(Secret("rt1")) == true)
        }
    }

    /// The time grows with the number of members: with its square it would be minutes.
    @Test func `are kept up to a thousand, and cost little however many there are`() throws {
        func object(_ count: Int) throws -> JSONObject {
            let members = (0..<count).map { "\"\($0)\":0" }.joined(separator: ",")
            return try JSONObject(parsing: Array("{\(members)}".utf8))
        }
        #expect(AdditionalParameters(try object(1000)).names.count == 1000)
        #expect(AdditionalParameters(try object(1001)).isEmpty)
        #expect(AdditionalParameters(try object(1001), except: ["7"]).names.count == 1000)
        let many = try object(100_000)
        let took = ContinuousClock().measure {
            #expect(AdditionalParameters(many, except: ["access_token"]).isEmpty)
            #expect(JSONObject(members: many.map { ($0.name, $0.value) }) == many)
        }
        #expect(took < .seconds(20), "\(took)")
    }

    @Test func `are shown only where they cannot be secret`() throws {
        let object = try JSONObject(
            parsing: Array(
                #"{"instance_url":"u","device_secret":"s","my_token":"t","id":"eyJhbGciOi","n":1,"ok":true,"list":[]}"#
                    .utf8))
        let shown = AdditionalParameters(object).showable
        #expect(shown.map(\.name) == ["instance_url", "n", "ok"])
        let odd = try JSONObject(
            parsing: Array(
                #"{"a":"https://i.example/x?y=z","b":"https://u@i.example","otp":"1","ticket":"t","c":"see b?"}"#
                    .utf8))
        #expect(AdditionalParameters(odd).showable.map(\.name) == ["c"])
    }

    @Test func `repeat no token where they are shown`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(
            .status(
                200,
                #"{"access_token":"fake-at","expires_in":300,"refresh_token":"fake-rt","a":"is fake-at","b":"fake-rt","c":"d"}"#
            ))
        try await harness.run("rt0") {
            let all = await harness.session.additionalParameters
            #expect(all.names == ["a", "b", "c"])
            let shown = await harness.session.status.additionalParameters
            #expect(shown.names == ["c"])
        }
    }

    @Test func `of an error are its words and its page`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(
            .status(
                400,
                #"{"error":"invalid_scope","error_description":"no such scope","error_uri":"https://sso.example/help"}"#
            ))
        try await harness.run("rt0") {
            let failed = harness.journal.entries.contains { $0.contains("misconfigured") }
            #expect(failed, "\(harness.journal.entries)")
        }
        var response = TransportResponse(
            status: 400,
            body: Array(#"{"error":"invalid_scope","error_uri":"https://sso.example/help"}"#.utf8))
        response.errorDescription = "no such scope"
        let error = ErrorResponse(
            response: response, body: .object(["error": "invalid_scope"]), grant: .original,
            grantType: .clientCredentials, wall: WallTime(secondsSinceEpoch: 0))
        #expect(error.failure?.providerDescription == "no such scope")
        #expect(error.failure?.errorURI == "https://sso.example/help")
    }

    @Test func `contradict the protocol where they have one of its names`() {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
        client.issuer = "https://sso.example"
        #expect(client.problems.isEmpty)
        client.authorizationParameters = [NamedValue("state", "x"), NamedValue("prompt", "login")]
        client.tokenParameters = [NamedValue("grant_type", "x"), NamedValue("", "x")]
        client.endSessionParameters = [NamedValue("id_token_hint", "x")]
        client.deviceParameters = [NamedValue("client_id", "x")]
        client.revocationParameters = [NamedValue("token", "x")]
        client.registrationParameters = [NamedValue("client_secret", "x")]
        client.defaultLifetime = .seconds(Int64.max)
        client.clockSkew = .seconds(-1)
        #expect(client.problems.count == 9, "\(client.problems)")
        #expect(client.problems.contains { $0.contains("'state'") })
    }

    @Test func `are judged with all else that a file is judged for`() {
        func problems(_ change: (inout ClientConfiguration) -> Void) -> [String] {
            var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
            client.issuer = "https://sso.example"
            change(&client)
            return client.problems
        }
        let cases: [(String, (inout ClientConfiguration) -> Void)] = [
            ("name", { $0.name = "" }), ("issuer", { $0.issuer = "sso.example" }),
            ("issuer", { $0.issuer = "https://sso.example/?x=y" }),
            ("issuer", { $0.issuer = "http://sso.example" }),
            ("endpoints[.token]", { $0.endpoints[.token] = HTTPURL("http://sso.example/t") }),
            ("scope", { $0.scope = ["a b"] }), ("scope", { $0.scope = [""] }),
            ("resource", { $0.resource = ["api"] }), ("resource", { $0.resource = ["https://a/#b"] }),
            ("audience", { $0.audience = ["a\nb"] }),
            ("postLogoutRedirectURI", { $0.postLogoutRedirectURI = "bye" }),
            ("username", { $0.grantType = .password }),
            ("subjectTokenType", { $0.grantType = .tokenExchange }),
            ("tokenHeaders", { $0.tokenHeaders = [NamedValue("Authorization", "x")] }),
            ("tokenHeaders", { $0.tokenHeaders = [NamedValue("dpop", "x")] }),
            ("userinfoHeaders", { $0.userinfoHeaders = [NamedValue("DPoP", "x")] }),
            ("tokenHeaders", { $0.tokenHeaders = [NamedValue("a b", "x")] }),
            ("userinfoHeaders", { $0.userinfoHeaders = [NamedValue("a", "x\r\ny: z")] }),
            ("authentication", { $0.authentication = .tlsClientAuth }),
            ("assertion.algorithm", { $0.assertion.algorithm = .hs256 }),
            ("tokenTimeLimit", { $0.tokenTimeLimit = .seconds(Int64.max) }),
        ]
        for (property, change) in cases {
            let found = problems(change)
            #expect(found.count == 1 && found[0].hasPrefix("\(property): "), "\(property): \(found)")
        }
        #expect(problems { $0.clientID = "" }.isEmpty, "it can be registered")
        #expect(problems { $0.issuer = "http://127.0.0.1:8080" }.isEmpty)
        let open = problems {
            $0.issuer = "http://sso.example"
            $0.allowsInsecureProvider = true
        }
        #expect(open.isEmpty)
    }

    @Test func `that were never checked end no program`() async throws {
        let harness = SessionHarness { $0.defaultLifetime = .seconds(Int64.max) }
        harness.server.script(.status(200, #"{"access_token":"a"}"#))
        try await harness.run { #expect(harness.token == "a") }
    }

    @Test func `go along with a logout, and its answer is recognised`() throws {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
        client.postLogoutRedirectURI = "app:/bye"
        client.endSessionParameters = [NamedValue("logout_hint", "alice")]
        let endpoint = try #require(HTTPURL("https://sso.example/logout?x=y"))
        let request = EndSessionRequest(endpoint: endpoint, idToken: Secret("fake"), configuration: client)
        let names = request.parameters.map(\.name)
        #expect(names == ["id_token_hint", "client_id", "post_logout_redirect_uri", "state", "logout_hint"])
        let state = try #require(request.state)
        #expect(
            request.url
                == "https://sso.example/logout?x=y&client_id=app&post_logout_redirect_uri=app%3A%2Fbye&state=\(state)"
                + "&logout_hint=alice")
        #expect(request.isAnswered(by: "app:/bye?state=\(state)"))
        #expect(
            !request.isAnswered(by: "app:/bye?state=x") && !request.isAnswered(by: "app:/else?state=\(state)")
        )
        client.postLogoutRedirectURI = nil
        #expect(EndSessionRequest(endpoint: endpoint, idToken: nil, configuration: client).state == nil)
    }
}
