// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// What a provider says of a refusal, as far as a line of ours repeats it.
@Suite struct `The words of a provider` {
    private func shown(_ said: String, code: String? = "invalid_client", secret: String = "") -> String? {
        ErrorDescription(said, beside: code, hiding: [Array(secret.utf8)])?.text
    }

    @Test(arguments: [
        ("Bad client credentials", "Bad client credentials"),
        ("invalid_client: Bad client credentials", "Bad client credentials"),
        ("a\nb\r\n\tc", "a b c"), ("\u{1B}[31mred\u{7F}", "?[31mred?"), ("he said \"no\"", "he said 'no'"),
        ("Trace ID: 0b1c2d3e-1111-2222-3333-444455556666", "Trace ID: 0b1c2d3e-1111-2222-3333-444455556666"),
        ("AADSTS7000215: Invalid client secret provided.", "AADSTS7000215: Invalid client secret provided."),
        ("token 3Hk9Zx81TqWm40RyUvB2Lk9sHd.e30.x is no good", "token ....e30.x is no good"),
        ("client_credentials_not_enabled_here", "client_credentials_not_enabled_here"),
    ])
    func `are shown without what a terminal obeys and without what may be a secret`(
        said: String, text: String
    ) {
        #expect(shown(said) == text)
    }

    @Test(arguments: ["", " ", "invalid_client", "\u{1}\u{2}", "..."])
    func `that say nothing are left out`(said: String) {
        #expect(shown(said) == nil)
    }

    @Test func `are 200 bytes at most`() {
        let text = shown(String(repeating: "word ", count: 1000))
        #expect(text?.utf8.count == 200 && text?.hasSuffix("...") == true)
    }

    @Test(arguments: [
        ("hunter2", "the secret hunter2 is wrong"), ("a-long-secret", "you sent long-secret, did you not?"),
        ("a-long-secret", "a-long-secret"),
    ])
    func `that repeat a part of a secret are not shown`(secret: String, said: String) {
        #expect(shown(said, secret: secret) == nil)
        #expect(shown("no secret at all", secret: secret) == "no secret at all")
    }

    @Test func `know every secret of a request, as sent and as meant`() throws {
        let url = try #require(HTTPURL("https://sso.example/token"))
        var request = TransferRequest(method: .post, url: url)
        request.fields.append(.contentType, FormBody.contentType)
        // app:s%2Bcret-of-mine, as RFC 6749 §2.3.1 has it
        request.fields.append(.authorization, "Basic YXBwOnMlMkJjcmV0LW9mLW1pbmU=")
        var body = FormBody()
        body.append(.grantType, "refresh_token")
        body.append(.refreshToken, "a refresh/token")
        body.append(.scope, "openid profile")
        request.body = body.bytes
        func words(_ said: String) -> String? {
            let answer: JSONValue = ["error": "invalid_grant", "error_description": .string(said)]
            return TransportResponse(status: 400, body: answer.serialized()).errorDescription(
                answering: request)
        }
        for echo in [
            "a refresh/token", "a%20refresh%2Ftoken", "s+cret-of-mine", "s%2Bcret-of-mine",
            "YXBwOnMlMkJjcmV0LW9mLW1pbmU=",
        ] {
            #expect(words("this: \(echo)") == nil, "\(echo)")
        }
        #expect(words("not openid profile, app") == "not openid profile, app")
    }

    @Test(arguments: [
        "8b2c4f1a-03d7-4e6b-9a51-5eedfade0001", "9f86d081884c7d65", "plain.dotted.token",
        "Zm9v/YmFy+cXV4Lw==",
    ])
    func `that repeat a secret of another request are not shown`(secret: String) {
        let held = Secret(secret)
        withExtendedLifetime(held) {
            #expect(shown("Access token \(secret) is still valid") == nil)
            #expect(shown("Access token \(secret.prefix(8))... is still valid") == nil)
            #expect(shown(String(repeating: "word ", count: 38) + secret) == nil, "cut off by us")
            #expect(ErrorDescription.page("https://sso.example/errors/\(secret)") == nil)
            #expect(shown("invalid refresh token") == "invalid refresh token")
            let refusal = AuthorizationRefusal(code: nil, description: "no \(secret)", page: nil)
            #expect(refusal.description == nil)
        }
        let word = Secret("the_sesame_word")
        withExtendedLifetime(word) {
            #expect(ErrorCode(rawValue: "no_the_sesame_word") == nil)
            let challenge = BearerChallenge(in: [
                #"Bearer error="the_sesame_word", scope="a the_sesame_word""#
            ])
            #expect(challenge?.error == nil && challenge?.scope == ["a"])
        }
        let code = Secret("invalid_grant")
        withExtendedLifetime(code) { #expect(ErrorCode(rawValue: "invalid_grant") == .invalidGrant) }
    }
}
