// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

struct `An answer of the token endpoint` {
    private let wall = WallTime(secondsSinceEpoch: 784_111_700)  // 77 s before RFC 9110's example date

    private func answer(
        _ status: Int, _ body: String = "", to grant: Grant = .refresh(Secret("rt")),
        of type: GrantType = .refreshToken, fields: [(HTTPFields.Name, String)] = [],
        accepting types: [String] = []
    ) -> TokenRequestResult {
        var configuration = ClientConfiguration(name: "default", clientID: "app", grantType: type)
        configuration.acceptedTokenTypes += types
        var response = TransportResponse(status: status, body: Array(body.utf8))
        for (name, value) in fields { response.fields.append(name, value) }
        return TokenRequestResult(
            response, to: grant, of: configuration, sentAt: .now, wall: wall)
    }

    private func kind(_ answer: TokenRequestResult) -> TokenFailure.Kind? {
        switch answer.result {
        case .success: nil
        case .failure(let failure): failure.kind
        }
    }

    private func code(_ answer: TokenRequestResult) -> String? {
        switch answer.result {
        case .success: nil
        case .failure(let failure): failure.code
        }
    }

    private func lifetime(_ expiresIn: String) throws -> Duration? {
        try answer(200, #"{"access_token":"at","expires_in":\#(expiresIn)}"#).result.get().lifetime
    }

    // MARK: The outcome table

    @Test(arguments: [
        "invalid_grant", "interaction_required", "consent_required", "login_required", "bad_refresh_token",
    ])
    func `that refuses the session is final where a person began it`(code: String) {
        for status in [200, 400, 401, 403, 404] {
            let body = #"{"error":"\#(code)"}"#
            #expect(kind(answer(status, body)) == .final)
            #expect(kind(answer(status, body, of: .authorizationCode)) == .final)
            #expect(kind(answer(status, body, to: .original, of: .clientCredentials)) == .misconfigured)
            #expect(kind(answer(status, body, to: .original, of: .jwtBearer)) == .misconfigured)
            #expect(
                kind(answer(status, body, of: .clientCredentials)) == .final, "only its refresh token died")
        }
    }

    @Test(arguments: [
        "", " \r\n", "{}", #"{"error":"odd_code"}"#, #"{"error":"invalid_request"}"#, "[]", #"{"error":7}"#,
    ])
    func `to a refresh is doubtful if it has no code that we know`(body: String) {
        for status in [400, 401] {
            #expect(kind(answer(status, body)) == .doubtful)
            #expect(kind(answer(status, body, to: .original, of: .clientCredentials)) == .transient)
        }
    }

    @Test(arguments: [
        "invalid_client", "unauthorized_client", "invalid_scope", "invalid_target", "unsupported_grant_type",
    ])
    func `that refuses the client is about the configuration`(code: String) {
        for status in [200, 400, 401] {
            #expect(kind(answer(status, #"{"error":"\#(code)"}"#)) == .misconfigured)
        }
    }

    @Test(arguments: [
        (403, ""), (403, "{}"), (403, #"{"message":"no"}"#), (403, #"{"error":"access_denied"}"#), (404, ""),
        (404, "<html>"),
        (404, #"{"error":"Realm does not exist"}"#),
    ])
    func `that is forbidden or not found without a reason is about the configuration`(
        status: Int, body: String
    ) {
        #expect(kind(answer(status, body)) == .misconfigured)
    }

    @Test(arguments: [
        (500, ""), (502, "<html>"), (503, #"{"error":"odd_code"}"#), (408, ""), (429, "{}"),
        (403, "<html>blocked</html>"),
        (403, #"{"error":"odd_code"}"#), (400, #"{"error":"temporarily_unavailable"}"#), (400, "<html>"),
        (401, "please log in"), (400, #"{"error":"slow_down"}"#), (400, #"{"error":"server_error"}"#),
        (500, #"{"error":"access_denied"}"#), (302, ""), (307, "{}"), (201, #"{"access_token":"at"}"#),
        (204, ""), (100, ""), (999, ""), (0, ""),
        (200, ""), (200, "<html>"), (200, "[]"), (200, "null"), (200, #""text""#), (200, "{}"),
        (200, #"{"error":"odd_code","access_token":"at"}"#), (200, #"{"access_token":""}"#),
        (200, #"{"access_token":7}"#), (200, #"{"access_token":["at"]}"#), (200, #"{"access_token":null}"#),
        (200, #"{"access_token":"a t"}"#), (200, #"{"access_token":"a\u0000t"}"#),
        (200, #"{"access_token":"a\r\nt"}"#),
        (200, #"{"access_token":"\u00e9"}"#), (200, #"{"access_token":"at","token_type":"mac"}"#),
        (200, #"{"access_token":"at","token_type":5}"#), (200, #"{"access_token":"at","expires_in":0}"#),
        (200, #"{"access_token":"at","expires_in":-1}"#), (200, #"{"access_token":"at","expires_in":"-1"}"#),
        (200, #"{"access_token":"at","expires_in":0.5}"#),
        (200, #"{"access_token":"at","expires_in":-1e300}"#),
        (200, #"{"access_token":"at""#),
    ])
    func `that is anything else may be better next time`(status: Int, body: String) {
        #expect(kind(answer(status, body)) == .transient)
        #expect(kind(answer(status, body, to: .original, of: .clientCredentials)) == .transient)
    }

    @Test(arguments: [
        "invalid_grant", "login_required", "bad_refresh_token", "invalid_client", "invalid_scope",
        "invalid_request", "access_denied", "expired_token", "unheard_of",
    ])
    func `with a 5xx status is a broken gateway's, whatever it says`(code: String) {
        for status in [500, 502, 503, 599] {
            for grant in [Grant.refresh(Secret("rt")), .original, .onBehalf(of: Secret("st"))] {
                for type in [GrantType.refreshToken, .clientCredentials, .tokenExchange] {
                    let answer = answer(status, #"{"error":"\#(code)"}"#, to: grant, of: type)
                    #expect(kind(answer) == .transient && self.code(answer) == "http_\(status)")
                }
            }
        }
    }

    @Test(arguments: ["temporarily_unavailable", "server_error", "slow_down"])
    func `with a 5xx status may say that it is out of order`(code: String) {
        let answer = answer(503, #"{"error":"\#(code)"}"#)
        #expect(kind(answer) == .transient && self.code(answer) == code)
    }

    // MARK: A token

    @Test(arguments: [
        #"{"access_token":"at"}"#, #"{"access_token":"at","token_type":"Bearer"}"#,
        #"{"access_token":"at","token_type":"bEARER","expires_in":null}"#,
        #"{"access_token":"at","token_type":null}"#,
        #"{"access_token":"at","token_type":"","error":null}"#, #" {"access_token":"at","expires_in":true}"#,
        #"{"access_token":"no","access_token":"at"}"#,
    ])
    func `with an access token is a success`(body: String) throws {
        let grant = try answer(200, body).result.get()
        #expect(grant.accessToken.matches(Array("at".utf8)))
    }

    @Test func `may have another token type where that is accepted`() {
        let body = #"{"access_token":"at","token_type":"N_A"}"#
        #expect(kind(answer(200, body)) == .transient)
        #expect(kind(answer(200, body, accepting: ["n_a"])) == nil)
    }

    @Test(arguments: [
        ("300", 300), ("300.9", 300), (#""300""#, 300), (#"" 300 ""#, 300), (#""300.5""#, 300), ("3e2", 300),
        ("1e300", 315_359_999), ("99999999999999999999999", 315_359_999),
        ("9223372036854775807", 315_359_999),
        ("1e400", 315_359_999),
    ])
    func `tells the lifetime as a number or a string of one`(text: String, expected: Int) throws {
        #expect(try lifetime(text) == .seconds(expected))
    }

    @Test(arguments: [
        "null", "true", #""soon""#, #""""#, "[]", "{}", #""3 0""#, #""1e3""#, #""0x10""#, #""nan""#,
        #""inf""#,
    ])
    func `that tells no lifetime leaves it open`(text: String) throws {
        #expect(try lifetime(text) == nil)
    }

    @Test func `grants the scope it names`() throws {
        #expect(try answer(200, #"{"access_token":"at","scope":"a  b"}"#).result.get().scope == ["a", "b"])
        #expect(try answer(200, #"{"access_token":"at"}"#).result.get().scope == nil)
        #expect(try answer(200, #"{"access_token":"at","scope":["a"]}"#).result.get().scope == nil)
    }

    @Test(arguments: [
        #"{"refresh_token":"new"}"#, #"{"refresh_token":"new","access_token":"a t"}"#,
        #"{"refresh_token":"new","error":"invalid_grant"}"#, #"{"refresh_token":"new","access_token":"at"}"#,
        #"{"refresh_token":"new","access_token":"at","token_type":"mac"}"#,
        #"{"refresh_token":"new","access_token":"at","expires_in":0}"#,
        #"{"refresh_token":"new","access_token":"at","expires_in":1e999}"#,
        #"{"refresh_token":"new","access_token":"at","name":"\ud800"}"#,
        #"{"\udc00":1,"name":["\ud83d"],"refresh_token":"new"}"#,
        #"{"claims":"# + String(repeating: "[", count: 3000) + String(repeating: "]", count: 3000)
            + #","refresh_token":"new","access_token":"at"}"#,
        "\u{FEFF}" + #"{"refresh_token":"new","access_token":"at"}"#,
        #"{"a":"}\"{","refresh_token" : "new" , "list":[1,{"b":"]"}], "n":1e999, "bad":nan}"#,
        #"{"refresh_token":"new""#, #"{"access_token":"at","refresh_token":"new" "#,
        #"{"refresh_token":"new","access_token":"cut of"#, #"{"refresh_token":"new"} <!-- cached -->"#,
        "<b>Warning</b>: a program says something first" + #"{"refresh_token":"new","access_token":"at"}"#,
        ")]}',\n" + #"{"refresh_token":"new"}"#,
    ])
    func `gives its refresh token, whatever else is wrong with it`(body: String) {
        #expect(answer(200, body).refreshToken?.matches(Array("new".utf8)) == true)
        #expect(answer(400, body).refreshToken == nil)
    }

    @Test func `is used though a member that is nothing to us cannot be read`() throws {
        let grant = try answer(
            200, "\u{FEFF}" + #" {"access_token":"at","name":"\ud800","refresh_token":"new","expires_in":7}"#
        ).result.get()
        #expect(grant.accessToken.matches(Array("at".utf8)) && grant.lifetime == .seconds(7))
        #expect(kind(answer(200, #"{"access_token":"at","expires_in":30"#)) == .transient, "it was cut off")
        #expect(kind(answer(200, #"{"access_token":"at"} {"access_token":"b"}"#)) == .transient)
    }

    @Test(arguments: [
        #"{"refresh_token":""}"#, #"{"refresh_token":null}"#, #"{"refresh_token":5}"#,
        #"{"refresh_token":"half"#, #"{"refresh_token":"half\""#, #"{"refresh_token":"half"x"#,
        #"{"refresh_token":"\ud800"}"#,
        #"{"a":{"refresh_token":"not ours"},"name":"\ud800"}"#, #"["refresh_token","x"]"#,
    ])
    func `with no real refresh token does not touch ours`(body: String) {
        #expect(answer(200, body).refreshToken == nil)
    }

    // MARK: Around it

    @Test(arguments: [
        ("0", Duration.zero), ("7", .seconds(7)), ("86400", .seconds(300)),
        ("99999999999999999999999", .seconds(300)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", .seconds(77)), ("Sunday, 06-Nov-94 08:49:37 GMT", .seconds(77)),
        ("Sun Nov  6 08:49:37 1994", .seconds(77)), ("Fri, 31 Dec 9999 23:59:59 GMT", .seconds(300)),
    ])
    func `may say when to ask again`(text: String, expected: Duration) {
        guard case .failure(let failure) = answer(503, fields: [(.retryAfter, text)]).result else { return }
        #expect(failure.retryAfter == expected)
    }

    @Test(arguments: [
        "", "-1", "soon", "1.5", "Sun, 06 Nov 1994", "Sun, 06 Nov 1994 08:48:00 GMT",
        "Sun, 99 Nov 2094 99:99:99 GMT",
    ])
    func `that says it in a way nobody understands has not said it`(text: String) {
        guard case .failure(let failure) = answer(503, fields: [(.retryAfter, text)]).result else { return }
        #expect(failure.retryAfter == nil)
    }

    @Test(arguments: [
        (401, "", true), (400, #"{"error":"invalid_client"}"#, true),
        (400, #"{"error":"unauthorized_client"}"#, true),
        (403, "", true), (403, "{}", false), (400, "", false), (400, #"{"error":"invalid_grant"}"#, false),
        (500, "", false),
    ])
    func `may be about the client's credentials`(status: Int, body: String, expected: Bool) {
        let response = TransportResponse(status: status, body: Array(body.utf8))
        #expect(response.mayBeAboutCredentials == expected)
    }

    @Test(arguments: [
        "eyJhbGciOi", "rt-123", "two words", "UPPER", String(repeating: "a", count: 41), "a\u{1B}[31m",
    ])
    func `never gets a text into our messages that is not plainly a code`(text: String) {
        let body = #"{"error":"\#(text)","error_description":"\#(text)"}"#
        #expect(code(answer(400, body)) == "http_400")
    }

    @Test func `never traps, whatever its bytes`() {
        var random = SeededGenerator(seed: 0x0A07_0000_0000_0001)
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"", "access_token", "expires_in", "refresh_token", "error",
            "token_type",
            "1e309", "-", "9223372036854775808", "null", "true", "\\u0000", "\\ud800", "\u{FF}",
            "{\"access_token\":\"at\",",
        ]
        for _ in 0..<3000 {
            var text = ""
            for _ in 0..<Int.random(in: 0...12, using: &random) {
                text += pieces.randomElement(using: &random) ?? ""
            }
            _ = answer(Int.random(in: -1...1000, using: &random), text, fields: [(.retryAfter, text)])
            var response = TransportResponse(status: 200)
            response.body = (0..<Int.random(in: 0...64, using: &random)).map { _ in
                .random(in: 0...255, using: &random)
            }
            _ = TokenRequestResult(
                response, to: .original,
                of: ClientConfiguration(name: "", clientID: "", grantType: .refreshToken),
                sentAt: .now, wall: wall)
        }
    }
}
