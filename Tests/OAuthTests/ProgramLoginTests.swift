// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// What a program may say of a login and a logout of its own.
struct `A login of a program's own` {
    private static let issuer = "https://sso.example"
    private static let random = "Rk8vX2dQ5mZt1LwYb7CsHq"

    private func harness(
        _ change: @escaping (inout ClientConfiguration) -> Void = { _ in }
    ) -> SessionHarness {
        SessionHarness(grantType: .authorizationCode) { client in
            client.endpoints[.authorization] = HTTPURL("\(Self.issuer)/auth")
            client.scope = ["openid", "email"]
            change(&client)
        }
    }

    @Test func `tells what it asks for, in another process too`() async throws {
        let harness = harness()
        try await harness.run {
            let request = try await harness.session.authorizationRequest(
                redirectURI: "com.example.app:/back", scope: ["openid", "api"])
            let read = try #require(AuthorizationRequest(decoding: request.encoded()))
            for request in [request, read] {
                #expect(request.scope == ["openid", "api"] && request.clientID == "app")
                let nonce = request.nonce.withPlaintext { $0 }
                #expect(request.url.contains("&nonce=\(nonce)&"))
                #expect("\(request)" == "[authorization request of app for com.example.app:/back]")
                var dumped = "\([request])"
                dump(request, to: &dumped)
                #expect(!dumped.contains(nonce) && !dumped.contains(request.state.withPlaintext { $0 }))
            }
        }
    }

    @Test func `has a state and a nonce of the program's`() async throws {
        let harness = harness()
        try await harness.run {
            let flow = try await harness.session.authorizationFlow(
                redirectURI: "com.example.app:/back", state: Secret("state" + Self.random),
                nonce: Secret("nonce" + Self.random))
            #expect(flow.url.contains("&state=state\(Self.random)&nonce=nonce\(Self.random)&"))
            let response = try flow.response(to: "com.example.app:/back?code=c&state=state\(Self.random)")
            guard case .granted(let code) = response else { throw LoginError.expired }
            #expect(code.nonce.matches(Array("nonce\(Self.random)".utf8)))
        }
    }

    @Test(arguments: [
        "", "1234", "my-state", String(repeating: "a", count: 64), "abcabcabcabcabcabcabcabc",
        random + " ", random + "ü", String(repeating: random, count: 30),
    ])
    func `has none that somebody might guess`(mark: String) async throws {
        let harness = harness()
        try await harness.run {
            for (state, nonce) in [(Secret(mark), nil), (nil, Secret(mark))] as [(Secret?, Secret?)] {
                let failure = await #expect(throws: TokenFailure.self) {
                    _ = try await harness.session.authorizationRequest(
                        redirectURI: "com.example.app:/back", state: state, nonce: nonce)
                }
                #expect(failure?.reason == .badParameter && failure?.kind == .misconfigured)
                #expect(failure.map { "\($0)".contains("too easy to guess") } == true)
            }
        }
    }

    @Test(arguments: [
        "", "nonsense", "/callback", "http:/callback", "https://", "https:///callback", "http://:8080/",
        "https://app.example/#part", "https://app.example/a b", "://app.example",
    ])
    func `is refused where its redirect is no URL`(uri: String) async throws {
        let harness = harness()
        try await harness.run {
            let failure = await #expect(throws: TokenFailure.self) {
                _ = try await harness.session.authorizationFlow(redirectURI: uri)
            }
            #expect(failure?.reason == .badRedirectURI, "\(uri)")
        }
    }

    @Test(arguments: [
        "com.example.app:/oauth2redirect", "app://callback", "http://127.0.0.1:8080/", "https://[::1]/cb",
        "https://app.example/cb?tenant=blue",
    ])
    func `takes any other redirect`(uri: String) async throws {
        let harness = harness()
        try await harness.run {
            let flow = try await harness.session.authorizationFlow(redirectURI: uri)
            #expect(flow.request.redirectURI == uri)
        }
    }

    @Test func `gives the code of a request of its own to no other server`() async throws {
        let harness = harness { $0.issuer = Self.issuer }
        try await harness.run {
            var client = ClientConfiguration(
                name: "a", clientID: "app", grantType: .authorizationCode)
            client.issuer = "https://another.example"
            let request = AuthorizationRequest(
                configuration: client, endpoint: try #require(HTTPURL("https://another.example/auth")),
                redirectURI: "com.example.app:/back", issuer: nil, requiresIssuer: false)
            let state = request.state.withPlaintext { $0 }
            let response = try request.response(in: "code=c&state=\(state)")
            let failure = await failure { () async throws(LoginError) in
                try await harness.session.logIn(with: response)
            }
            guard case .failed(let reason)? = failure, reason.reason == .superseded else {
                Issue.record("\(String(describing: failure))")
                return
            }
            #expect(harness.server.bodies.isEmpty)
        }
    }

    @Test func `asks nothing with a configured parameter or header that clashes`() async throws {
        let clashes: [(inout ClientConfiguration) -> Void] = [
            { $0.tokenParameters = [NamedValue("grant_type", "x")] },
            { $0.authorizationParameters = [NamedValue("state", "x")] },
            { $0.tokenHeaders = [NamedValue("Host", "other.example")] },
        ]
        for clash in clashes {
            let harness = harness(clash)
            try await harness.run("rt0") {
                #expect(harness.server.bodies.isEmpty)
                let error = await harness.session.status.lastError
                #expect(error?.code == "bad_parameter" && error?.detail.contains("clashes") == true)
                await #expect(throws: TokenFailure.self) {
                    _ = try await harness.session.authorizationFlow(redirectURI: "com.example.app:/back")
                }
            }
        }
    }

    @Test func `prints nothing that it asked for, nor what a later version has stored`() throws {
        var code = AuthorizationCode(
            code: Secret("c"), redirectURI: "com.example.app:/back", verifier: Secret("v"), nonce: Secret("n")
        )
        code.additions = LoginAdditions(parameters: [NamedValue("login_hint", "alice@example.com")])
        #expect("\(AuthorizationResponse.granted(code))".contains("for com.example.app:/back"))
        var stored = StoredSession(identity: "default", generation: 3, binding: "b")
        stored.unknownMembers = ["later_secret": "fake-secret"]
        #expect("\(stored)" == "[session of default, generation 3]")
        for value in [AuthorizationResponse.granted(code), stored] as [any Sendable] {
            var dumped = "\(value) \([value])"
            dump(value, to: &dumped)
            #expect(!dumped.contains("alice") && !dumped.contains("fake-secret"))
        }
    }

    @Test func `of another server's tokens is refused where the issuer is known`() async throws {
        let harness = harness { $0.issuer = Self.issuer }
        try await harness.run {
            let error = await #expect(throws: StoreError.self) {
                try await harness.session.take(Secret("theirs"), issuer: "https://another.example")
            }
            #expect(error?.isRefused == true && harness.server.bodies.isEmpty)
            let isTaken = try await harness.session.take(Secret("ours"), issuer: Self.issuer)
            #expect(isTaken)
        }
    }

    @Test func `of another program needs a refresh token that is one`() async throws {
        let harness = harness()
        try await harness.run("rt0") {
            let error = await #expect(throws: StoreError.self) { try await harness.session.take(Secret("")) }
            #expect(error?.sentence == "the refresh token to begin with is empty")
            #expect(await harness.session.isAuthorized)
        }
    }

    @Test func `ends with the id token in the browser's URL only where the program wants that`() async throws
    {
        let harness = harness {
            $0.endpoints[.endSession] = HTTPURL("\(Self.issuer)/end?keep=1")
            $0.postLogoutRedirectURI = "com.example.app:/bye"
        }
        try await harness.run("rt0") {
            let request = try #require(await harness.session.logOut().request)
            #expect(request.url == request.urlWithIDTokenHint.withPlaintext { $0 })
            let hinted = EndSessionRequest(
                endpoint: request.endpoint, idToken: Secret("e30.fake.id-token"),
                configuration: ClientConfiguration(name: "a", clientID: "app", grantType: .authorizationCode))
            #expect(!hinted.url.contains("id_token_hint") && !hinted.url.contains("fake"))
            let url = hinted.urlWithIDTokenHint.withPlaintext { $0 }
            #expect(url == "\(Self.issuer)/end?keep=1&id_token_hint=e30.fake.id-token&client_id=app")
        }
    }

    @Test func `may say which content it takes`() async throws {
        let harness = harness { $0.tokenHeaders = [NamedValue("Accept", "application/vnd.example+json")] }
        try await harness.run("rt0") {
            let sent = harness.server.last?.headers.filter { $0.name.lowercased() == "accept" }
            #expect(sent?.map(\.value) == ["application/vnd.example+json"])
        }
    }

    @Test func `takes endpoints as they are for requests, and knows one that is authorized`() async throws {
        let harness = harness()
        try await harness.run("rt0") {
            let endpoint = try #require(HTTPURL("https://api.example/userinfo"))
            let answer = try await harness.session.authorized(endpoint) { credentials in
                #expect(harness.session.isAuthorizedRequest(credentials.headers))
                return ResourceResponse(status: 200, value: credentials.value)
            }
            #expect(answer.value == "Bearer at1")
            #expect(!harness.session.isAuthorizedRequest([NamedValue("Accept", "*/*")]))
            #expect(!harness.session.isAuthorizedRequest([NamedValue("authorization", "")]))
        }
    }
}
