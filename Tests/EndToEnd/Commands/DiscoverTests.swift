// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// `bearerd discover`.
@Suite(.blocking) struct `Discovering` {
    private func discover(
        _ issuer: String, _ more: String...
    ) throws -> (exit: Int32, output: String, errors: String) {
        let result = try Subprocess.run([BearerdProcess.binary, "discover", issuer] + more)
        guard case .exited(let code) = result.ending else { throw WireError("\(result.ending)") }
        return (code, result.output, result.errors)
    }

    @Test func `the document is printed as JSON, with no configuration anywhere`() throws {
        let provider = try HostileProvider()
        provider.discovery { _, provider in provider.discoveryDocument(members: #","odd":{"a":[1,null]}"#) }
        let result = try discover(provider.issuer)
        let document = try #require(TestJSON(parsing: result.output), "\(result.errors)")
        #expect(result.exit == 0 && result.errors.isEmpty)
        #expect(document["issuer"].string == provider.issuer)
        #expect(document["odd"]["a"] == .array([.number(1), .null]))
    }

    @Test func `what the second document alone says is there too`() throws {
        let server = try RawServer { wire in
            while let request = try wire.readRequest() {
                let issuer = "http://\(request["Host"] ?? "")"
                let member =
                    request.head.target.contains("openid")
                    ? #""token_endpoint":"\#(issuer)/first""#
                    : #""token_endpoint":"\#(issuer)/second","revocation_endpoint":"\#(issuer)/revoke""#
                guard try Reply.json(#"{"issuer":"\#(issuer)",\#(member)}"#).send(to: wire) else { return }
            }
        }
        let issuer = "http://\(server.address)"
        let document = try #require(try TestJSON(parsing: discover(issuer).output))
        #expect(document["token_endpoint"].string == issuer + "/first")
        #expect(document["revocation_endpoint"].string == issuer + "/revoke")
    }

    @Test(arguments: [
        Reply.response(200, [("Content-Type", "text/html")], "<html>"), .response(404), .response(500),
        .close,
        .json("[]"), .json(#"{"issuer":"https://elsewhere.test"}"#),
        .json(#"{"issuer":"\#(String(repeating: "x", count: 2 << 20))"}"#),
    ])
    func `a provider without a document of its own is 69, in one line`(reply: Reply) throws {
        let provider = try HostileProvider()
        provider.discovery { _, _ in reply }
        let result = try discover(provider.issuer)
        #expect(result.exit == 69 && result.output.isEmpty)
        #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
    }

    @Test func `a provider out of reach is 69, no URL is 64`() throws {
        let (holder, address) = try Socket.refusing()
        #expect(try discover("http://\(address)").exit == 69)
        _ = holder
        for words in [
            ["discover"], ["discover", "sso"], ["discover", "https://a.test?x"],
            ["discover", "ftp://a.test"],
        ] {
            let result = try Subprocess.run([BearerdProcess.binary] + words)
            #expect(result.ending == .exited(64), "\(words) \(result.errors)")
        }
    }
}
