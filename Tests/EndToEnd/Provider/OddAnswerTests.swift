// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// No answer of a provider, however broken, stops later refreshes or crashes the process.
@Suite(.blocking) struct `Odd answers of a provider` {
    /// A broken answer; the access token in it, if any, must never be used.
    struct Broken: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let reply: Reply

        init(_ description: String, _ reply: Reply) {
            testDescription = description
            self.reply = reply
        }
    }

    private static let poison = "poison-" + randomText()

    private static let broken: [Broken] = [
        Broken("empty 200", .response(200)),
        Broken("204", .response(204)),
        Broken("HTML", .response(200, [("Content-Type", "text/html")], "<html>\(poison)</html>")),
        Broken("an array", .json(#"[{"access_token":"\#(poison)"}]"#)),
        Broken("a string", .json(#""\#(poison)""#)),
        Broken("a number", .json("1")),
        Broken("an empty object", .json("{}")),
        Broken("half of it", .json(#"{"access_token":"\#(poison)","#)),
        Broken("rubbish after it", .json(#"{"access_token":"\#(poison)","token_type":"Bearer"} x"#)),
        Broken("bytes that are no UTF-8", .json(#"{"access_token":"\#(poison)\u{fffd}"}"#)),
        Broken("very deep", .json(String(repeating: "[", count: 100_000))),
        Broken("an access_token that is a number", .json(#"{"access_token":12345,"token_type":"Bearer"}"#)),
        Broken("a null access_token", .json(#"{"access_token":null,"token_type":"Bearer"}"#)),
        Broken("an empty access_token", .json(#"{"access_token":"","token_type":"Bearer"}"#)),
        Broken(
            "expires_in zero", .json(#"{"access_token":"\#(poison)","token_type":"Bearer","expires_in":0}"#)),
        Broken(
            "expires_in negative",
            .json(#"{"access_token":"\#(poison)","token_type":"Bearer","expires_in":-5}"#)),
        Broken(
            "expires_in \"0\"",
            .json(#"{"access_token":"\#(poison)","token_type":"Bearer","expires_in":"0"}"#)),
        Broken(
            "token_type mac", .json(#"{"access_token":"\#(poison)","token_type":"mac","expires_in":300}"#)),
        Broken("a control byte", .json(#"{"access_token":"\#(poison)\u0001","token_type":"Bearer"}"#)),
        Broken("a line end", .json(#"{"access_token":"\#(poison)\r\nX-Evil: 1","token_type":"Bearer"}"#)),
        Broken("a NUL", .json(#"{"access_token":"\#(poison)\u0000","token_type":"Bearer"}"#)),
        Broken("a space", .json(#"{"access_token":"\#(poison) b","token_type":"Bearer"}"#)),
        Broken("beyond ASCII", .json(#"{"access_token":"\#(poison)\u00e9","token_type":"Bearer"}"#)),
        Broken(
            "200 with an error", .json(#"{"error":"temporarily_unavailable","access_token":"\#(poison)"}"#)),
        Broken("400 with an unknown code", .json(#"{"error":"slow_down"}"#, status: 400)),
        Broken("500", .response(500, [], "oops")),
        Broken("503 with HTML", .response(503, [("Content-Type", "text/html")], "<html>")),
        Broken("408", .response(408)),
        Broken("429", .response(429)),
        Broken("a redirect", .response(302, [("Location", "/token2")])),
        Broken("a redirect that keeps the method", .response(307, [("Location", "/token")])),
        Broken("a reset", .reset),
        Broken("nothing", .close),
        Broken("no HTTP", .raw("hello\r\n\r\n", thenClose: true)),
        Broken(
            "half a body",
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 999\r\n\r\n{\"access_token\":", thenClose: true)),
        Broken(
            "bad chunks",
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}", thenClose: true)),
        Broken(
            "10 MB",
            .json(#"{"access_token":"\#(poison)","x":""# + String(repeating: "x", count: 10_000_000) + #""}"#)
        ),
        Broken(
            "10 MB without a length",
            .raw(
                "HTTP/1.1 200 OK\r\n\r\n{\"access_token\":\"\(poison)"
                    + String(repeating: "x", count: 10_000_000), thenClose: true)
        ),
        Broken(
            "a head without an end",
            .raw("HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 100_000), thenClose: true)),
        Broken(
            "a body that drips",
            .dripping("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{" + String(repeating: " ", count: 900))
        ),
    ]

    @Test(arguments: broken) func `are survived at the first request`(_ answer: Broken) throws {
        let provider = try HostileProvider()
        provider.script({ _, _ in answer.reply })
        let drips = answer.testDescription == "a body that drips"
        let sidecar = try Sidecar(
            provider: provider, .init(top: drips ? "timeouts:\n  token: 500ms" : ""))
        #expect(try sidecar.get().status == 200)
        #expect(drips ? provider.requests.count >= 2 : provider.requests.count == 2)
        #expect(sidecar.upstream.tokens == provider.accessTokens)
        #expect(LeakScan.leaks(of: [Self.poison], in: sidecar.bearerd.log).isEmpty)
    }

    @Test func `are survived one after the other, the valid token used meanwhile`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        let first = provider.accessTokens
        for answer in Self.broken where answer.testDescription != "a body that drips" {
            provider.script({ _, _ in answer.reply })
            try sidecar.act("refresh")
            #expect(try sidecar.get().status == 200, "\(answer.testDescription)")
        }
        provider.behave()
        try eventually("a refresh that works") {
            try sidecar.act("refresh")
            return provider.accessTokens.count > first.count
        }
        #expect(try sidecar.get().status == 200)
        let refreshes = provider.requests.filter { $0.grant == "refresh_token" }
        #expect(Set(refreshes.prefix(30).compactMap { $0["refresh_token"] }).count == 1, "it is not lost")
        let leaks = LeakScan.leaks(
            of: [Self.poison], in: sidecar.upstream.tokens.joined() + sidecar.bearerd.log)
        #expect(leaks.isEmpty)
    }

    @Test(
        arguments: [
            #""expires_in":"300""#, #""expires_in":null"#, #""expires_in":"soon""#, #""expires_in":1e12"#,
            #""expires_in":99999999999999999999999"#, #""expires_in":{}"#, #""expires_in":299.5"#,
            #""expires_in":9223372036854775807"#, #""expires_in":true"#, #""scope":"openid""#,
            #""token_type":"bEaReR""#,
            #""refresh_token":null"#, #""refresh_token":"""#, #""scope":null"#, #""id_token":"not.a.jwt""#,
        ])
    func `that are merely odd are accepted`(member: String) throws {
        let provider = try HostileProvider()
        provider.always { _, provider in
            .json(#"{"access_token":"\#(provider.makeAccessToken())",\#(member)}"#)
        }
        let sidecar = try Sidecar(provider: provider)
        #expect(try sidecar.get().status == 200)
        #expect(provider.requests.count == 1 && sidecar.upstream.tokens == provider.accessTokens)
    }

    @Test func `a token_type of accept_token_types is accepted, and the log names the key`() throws {
        let provider = try HostileProvider()
        provider.always { _, provider in provider.tokens(tokenType: #""N_A""#) }
        let refusing = try Sidecar(provider: provider, .init(top: "timeouts:\n  token_wait: 300ms"))
        #expect(try refusing.get().status == 503)
        try eventually("a word on the key") { refusing.bearerd.log.contains("accept_token_types") }
        let accepting = try Sidecar(provider: provider, .init(identity: "accept_token_types: [n_a]"))
        #expect(try accepting.get().status == 200)
    }

    @Test func `a refresh token inside a broken 200 is kept`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        let kept = "kept-" + randomText()
        let broken = [
            #"{"refresh_token":"\#(kept)1"}"#,
            #"{"refresh_token":"\#(kept)2","access_token":"x","token_type":"mac"}"#,
            #"{"refresh_token":"\#(kept)3","access_token":"x","expires_in":0}"#,
            #"{"refresh_token":"\#(kept)4","access_token":"a b"}"#,
        ]
        for body in broken { provider.script({ _, _ in .json(body) }) }
        for index in 0..<broken.count {
            try sidecar.act("refresh")
            try provider.request(index + 2)
        }
        try sidecar.act("refresh")
        let last = try provider.request(broken.count + 2)
        #expect(last["refresh_token"] == kept + "4")
        let shown = provider.requests.dropFirst(2).compactMap { $0["refresh_token"] }
        #expect(shown.prefix(4).elementsEqual((1...4).map { "\(kept)\($0)" }))
    }

    @Test(arguments: ["too large", "cut off"])
    func `a refresh token in what came of a 200 is kept`(fault: String) throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        provider.script({ request, provider in
            guard let old = request["refresh_token"] else { throw WireError("no refresh") }
            _ = provider.goodAnswer(to: request)
            let new = provider.latestRefreshToken ?? old
            let part = #"{"refresh_token":"\#(new)","access_token":"\#(Self.poison)","#
            switch fault {
            case "too large":
                return .json(part + #""filler":"\#(String(repeating: "x", count: 2 << 20))"}"#)
            default:
                return .raw(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n"
                        + part,
                    thenClose: true)
            }
        })
        try sidecar.act("refresh")
        try eventually("a token again") { provider.requests.count >= 3 }
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(shown.count == Set(shown).count, "none is shown twice: that would end the session")
        #expect(provider.requests.allSatisfy { $0.number == 1 || $0.grant == "refresh_token" })
        try sidecar.awaitToken()
        #expect(LeakScan.leaks(of: [Self.poison], in: sidecar.bearerd.log).isEmpty)
    }

    @Test func `a redirect is never followed with the credentials`() throws {
        let trap = try RawUpstream()
        let location = trap.url
        let provider = try HostileProvider()
        provider.script({ _, _ in .response(307, [("Location", location + "/token")]) })
        let sidecar = try Sidecar(provider: provider)
        #expect(try sidecar.get().status == 200)
        #expect(trap.connectionCount == 0)
    }
}
