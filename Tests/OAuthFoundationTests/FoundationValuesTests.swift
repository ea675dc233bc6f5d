// SPDX-License-Identifier: Apache-2.0

import Foundation
import OAuth
import OAuthFoundation
import OAuthRuntime
import StoreConformance
import Testing

/// Foundation's types for what sessions tell.
struct `Values for Foundation` {
    private struct Claims: Decodable {
        let sub: String
        let groups: [String]
        let exp: Date
        let address: [String: String]?
    }

    private func token(_ claims: String) throws -> IDToken {
        func part(_ text: String) -> String {
            Data(text.utf8).base64EncodedString().replacingOccurrences(of: "=", with: "")
                .replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
        }
        return try #require(IDToken("\(part(#"{"alg":"RS256"}"#)).\(part(claims)).AAAA"))
    }

    @Test func `are claims of a type of the program's own`() throws {
        let token = try token(
            #"{"iss":"https://a","sub":"alice","aud":"app","exp":1700000000,"iat":1699999990,"#
                + #""groups":["a","b"],"address":{"locality":"Köln"}}"#)
        let claims: Claims = try token.decoded()
        #expect(claims.sub == "alice" && claims.groups == ["a", "b"])
        #expect(
            claims.exp == Date(timeIntervalSince1970: 1_700_000_000) && claims.address?["locality"] == "Köln")
        #expect(throws: DecodingError.self) { try token.decoded(as: [String].self) }
    }

    @Test func `are dates, there and back`() {
        for seconds in [0, 1.5, -1.25, 1_700_000_000.125, 253_402_300_799] {
            let date = Date(timeIntervalSince1970: seconds)
            #expect(Date(WallTime(date)) == date)
        }
        #expect(WallTime(Date.distantFuture) > WallTime(Date.distantPast))
        #expect(WallTime(Date(timeIntervalSince1970: .infinity)) > WallTime(Date()))
        #expect(WallTime(Date(timeIntervalSince1970: -.infinity)) < WallTime(Date()))
        #expect(WallTime(Date(timeIntervalSince1970: .nan)) == WallTime(sinceEpoch: .zero))
    }

    @Test func `are URLs, there and back`() throws {
        let url = try #require(URL(string: "https://sso.example/authorize?a=b"))
        #expect(HTTPURL(url).flatMap { URL($0) } == url)
        for text in ["ftp://a/", "relative", "https://user:word@a/", "mailto:a@example.com"] {
            #expect(HTTPURL(try #require(URL(string: text))) == nil, "\(text)")
        }
        #expect(HTTPURL("http+unix:/run/a.sock").flatMap { URL($0) } == nil)
    }

    @Test func `are answers at a flow's redirect`() throws {
        var client = ClientConfiguration(name: "a", clientID: "app", grantType: .authorizationCode)
        client.issuer = "https://sso.example"
        let flow = AuthorizationFlow(
            AuthorizationRequest(
                configuration: client, endpoint: try #require(HTTPURL("https://sso.example/authorize")),
                redirectURI: "com.example.app:/back", issuer: nil, requiresIssuer: false))
        #expect(flow.browserURL?.host == "sso.example" && flow.request.browserURL == flow.browserURL)
        let state = flow.request.state.withPlaintext { $0 }
        let forged = try #require(URL(string: "com.example.app:/back?code=c&state=x"))
        #expect(throws: AuthorizationResponseError.stateMismatch) { try flow.response(to: forged) }
        let answer = try #require(URL(string: "com.example.app:/back?code=c&state=\(state)"))
        guard case .granted = try flow.response(to: answer) else {
            Issue.record("it is refused")
            return
        }
    }

    @Test(
        arguments: [
            TokenError.loginRequired, TokenFailure(.transient, .timedOut, detail: "no answer"),
            LoginError.cancelled, SessionFailure.token(.stopped), StoreError.outdated,
            CredentialError(reason: "no file"), TransportError.timedOut, AuthorizedRequestError.insecureURL,
            AuthorizationResponseError.stateMismatch, AccessTokenError.missing,
            ImportError.noRefreshToken, SessionStoreConformance.Violations(all: []),
        ] as [any ExplainedError])
    func `are errors that say what is wrong`(error: any ExplainedError) {
        #expect((error as any Error).localizedDescription == error.sentence)
        #expect(error is any LocalizedError)
    }

    @Test func `are errors of a runtime that say what is wrong`() {
        let error = #expect(throws: AuthRuntimeError.self) {
            try AuthRuntime(storage: .directory("/dev/null/store"))
        }
        #expect(
            error?.localizedDescription == error?.sentence && error?.sentence.contains("/dev/null") == true)
    }
}
