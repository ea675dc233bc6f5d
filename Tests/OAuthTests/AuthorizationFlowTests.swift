// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A login whose answer arrives as a URL.
struct `A pending authorization flow` {
    private func request(_ redirectURI: String) throws -> AuthorizationRequest {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .authorizationCode)
        client.issuer = "https://sso.example"
        return AuthorizationRequest(
            configuration: client, endpoint: try #require(HTTPURL("https://sso.example/authorize")),
            redirectURI: redirectURI, issuer: "https://sso.example", requiresIssuer: false)
    }

    private func state(of request: AuthorizationRequest) -> String { request.state.withPlaintext { $0 } }

    @Test(arguments: [
        ("com.example.app:/oauth2redirect", "com.example.app:/oauth2redirect?"),
        ("com.example.app:/oauth2redirect", "COM.EXAMPLE.APP:/oauth2redirect?session_state=x&"),
        ("app://callback", "app://callback/?"), ("app://Callback/", "app://callback?"),
        ("http://127.0.0.1:8080/cb", "http://127.0.0.1:8080/cb?"),
        ("https://app.example.com/cb", "https://APP.example.com:443/cb?"),
        ("https://app.example.com/cb?a=b", "https://app.example.com/cb?a=b&"),
    ])
    func `takes the answer at its redirect URI, once`(redirectURI: String, url: String) throws {
        let request = try request(redirectURI)
        let flow = AuthorizationFlow(request)
        let answer = "\(url)code=c&state=\(state(of: request))#"
        guard case .granted(let code) = try flow.response(to: answer) else {
            Issue.record("refused")
            return
        }
        #expect(code.code.matches(Array("c".utf8)) && code.redirectURI == redirectURI && flow.isEnded)
        #expect(throws: AuthorizationResponseError.alreadyUsed) { try flow.response(to: answer) }
    }

    @Test(arguments: [
        "com.example.app:/other", "com.example.other:/oauth2redirect",
        "com.example.app://host/oauth2redirect",
        "http://127.0.0.1/oauth2redirect", "", "nonsense", ":/oauth2redirect",
        "com.example.app:/oauth2redirect/",
    ])
    func `leaves every other URL alone`(url: String) throws {
        let request = try request("com.example.app:/oauth2redirect")
        let flow = AuthorizationFlow(request)
        #expect(throws: AuthorizationResponseError.otherAddress) {
            try flow.response(to: "\(url)?code=c&state=\(state(of: request))")
        }
        #expect(throws: AuthorizationResponseError.stateMismatch) {
            try flow.response(to: "com.example.app:/oauth2redirect?code=c&state=forged")
        }
        #expect(!flow.isEnded)
    }

    @Test func `ends when another issuer answers, and when it is cancelled`() throws {
        let request = try request("app:/cb")
        let flow = AuthorizationFlow(request)
        let answer = "app:/cb?code=c&state=\(state(of: request))"
        #expect(throws: AuthorizationResponseError.self) {
            try flow.response(to: "\(answer)&iss=https%3A%2F%2Fother.example")
        }
        #expect(throws: AuthorizationResponseError.alreadyUsed) { try flow.response(to: answer) }
        let cancelled = AuthorizationFlow(request)
        cancelled.cancel()
        #expect(throws: AuthorizationResponseError.alreadyUsed) { try cancelled.response(to: answer) }
    }

    @Test func `goes on in another process`() throws {
        let request = try request("app:/cb")
        let kept = request.encoded()
        let again = try #require(AuthorizationRequest(decoding: kept))
        #expect(again.url == request.url && again.redirectURI == "app:/cb" && "\(kept)" == "[redacted]")
        let url = "app:/cb?code=c&session_state=s&state=\(state(of: request))"
        guard case .granted(let code) = try AuthorizationFlow(again).response(to: url) else {
            Issue.record("refused")
            return
        }
        #expect(code.verifier.matches(Array(request.verifier.withPlaintext { $0 }.utf8)))
        #expect(code.additionalParameters.json == #"{"session_state":"s"}"#)
        for damaged in ["", "{}", "[]", #"{"url":"x"}"#] {
            #expect(AuthorizationRequest(decoding: Secret(damaged)) == nil)
        }
        let earlier = #"{"url":"u","state":"s","nonce":"n","verifier":"v","redirect_uri":"app:/cb","#
        let scoped = Secret(earlier + #""requires_issuer":false,"scope":["openid","api"]}"#)
        #expect(AuthorizationRequest(decoding: scoped)?.scope == ["openid", "api"])
    }
}
