// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd userinfo`.
@Suite(.blocking) struct `Asking who logged in` {
    @Test func `the claims are printed as JSON, asked for with a fresh token`() throws {
        let session = try ImportedSession()
        try session.begin()
        let result = try session.command("userinfo")
        let claims = try #require(TestJSON(parsing: result.output), "\(result.errors)")
        #expect(result.exit == 0 && claims["sub"].string == "user-1" && claims["name"].string == "A B")
        let asked = session.provider.requests("GET", "/userinfo")
        #expect(asked.count == 1)
        #expect(asked.first?.message["Authorization"] == "Bearer \(session.provider.accessTokens.last ?? "")")
        #expect(LeakScan.leaks(of: session.secrets, in: result.output + result.errors).isEmpty)
    }

    @Test(arguments: [
        Reply.json(#"{"sub":"somebody-else","email":"x@y.test"}"#), .json(#"{"email":"x@y.test"}"#),
        .json(#"{"sub":7}"#), .json("[]"), .ok("<html>"), .response(200), .response(500), .response(403),
        .close,
        .json(#"{"sub":"user-1","pad":"\#(String(repeating: "x", count: 10 << 20))"}"#),
        .response(200, [("Content-Type", "application/jwt")], "a.b.c"), .response(302, [("Location", "/")]),
    ])
    func `another sub, or no claims at all, is 69 and shows nothing`(reply: Reply) throws {
        let session = try ImportedSession()
        try session.begin()
        session.provider.serve("GET", "/userinfo") { _ in reply }
        let result = try session.command("userinfo")
        #expect(result.exit == 69 && result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        #expect(!result.errors.contains("somebody-else") && !result.errors.contains("x@y.test"))
    }

    @Test func `a token that the endpoint refuses is renewed once`() throws {
        let session = try ImportedSession()
        try session.begin()
        session.provider.serve("GET", "/userinfo") { [provider = session.provider] request in
            let isNewest = request["Authorization"] == "Bearer \(provider.accessTokens.last ?? "")"
            return isNewest && provider.accessTokens.count > 1 ? .json(#"{"sub":"user-1"}"#) : .unauthorized
        }
        #expect(try session.command("userinfo").exit == 0)
        session.provider.serve("GET", "/userinfo") { _ in .unauthorized }
        #expect(try session.command("userinfo").exit == 69)
        #expect(session.provider.requests("GET", "/userinfo").count == 4)
    }

    @Test func `without a session it is 77, without the endpoint 69`() throws {
        let session = try ImportedSession(without: ["userinfo"])
        #expect(try session.command("userinfo").exit == 77)
        try session.begin()
        let result = try session.command("userinfo")
        #expect(result.exit == 69 && result.errors.contains("userinfo_endpoint"), "\(result.errors)")
    }
}
