// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// The tools of the other tests, tried against each other.
@Suite(.blocking) struct `The test tools` {
    @Test func `client and upstream understand each other`() throws {
        let upstream = try RawUpstream { request in
            .response(200, [("X-Seen", request.head.startLine)], request.text)
        }
        let client = try RawClient(to: upstream.address)
        let first = try client.request("POST", "/a", body: "one")
        let second = try client.request("GET", "/b")
        #expect(first.text == "one" && first["x-seen"] == "POST /a HTTP/1.1" && second.status == 200)
        #expect(upstream.connectionCount == 1)
    }

    @Test func `chunks, trailers and interim answers are read`() throws {
        let upstream = try RawUpstream { _ in
            .raw(
                "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                    + "3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nX-End: 1\r\n\r\n")
        }
        let answer = try RawClient(to: upstream.address).request("GET", "/")
        #expect(answer.text == "abcde" && answer.interim.map(\.status) == [103])
        #expect(answer.trailers.map(\.name) == ["X-End"] && answer.isComplete)
    }

    @Test func `a truncated answer is seen as truncated`() throws {
        let upstream = try RawUpstream { _ in
            .raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", thenClose: true)
        }
        let answer = try RawClient(to: upstream.address).request("GET", "/")
        #expect(!answer.isComplete)
    }

    @Test func `a reset is an error, not an end`() throws {
        let upstream = try RawUpstream { _ in .reset }
        #expect(throws: (any Error).self) { try RawClient(to: upstream.address).request("GET", "/") }
    }

    @Test func `the provider rotates refresh tokens and notices reuse`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        func ask(_ form: String) throws -> RawResponse {
            let port = UInt16(provider.issuer.split(separator: ":").last ?? "") ?? 0
            return try RawClient(to: .tcp(port: port)).request("POST", "/token", body: form)
        }
        let first = try ask("grant_type=client_credentials").json["refresh_token"].string ?? ""
        let second = try ask("grant_type=refresh_token&refresh_token=\(first)").json
        #expect(second["refresh_token"].string != first && second["access_token"].string != nil)
        #expect(
            try ask("grant_type=refresh_token&refresh_token=\(first)").json["error"].string == "invalid_grant"
        )
        let grandchild = second["refresh_token"].string ?? ""
        #expect(try ask("grant_type=refresh_token&refresh_token=\(grandchild)").status == 400)
        #expect(provider.requests.map(\.grant).count == 4 && provider.handedOut.count == 4)
    }

    @Test func `the provider answers by its script, then as before`() throws {
        let provider = try HostileProvider()
        let gate = Gate()
        provider.script(
            { _, _ in .oauthError("slow_down") }, { _, provider in provider.tokens().held(by: gate) })
        let port = UInt16(provider.issuer.split(separator: ":").last ?? "") ?? 0
        let client = try RawClient(to: .tcp(port: port))
        #expect(try client.request("POST", "/token", body: "a=b").status == 400)
        let held = Background { try client.request("POST", "/token", body: "a=b") }
        try provider.request(2)
        #expect(!held.isFinished)
        gate.open()
        #expect(try held.value().json["access_token"].string != nil)
        #expect(
            try client.request("GET", "/.well-known/openid-configuration").json["issuer"].string
                == provider.issuer)
    }

    @Test func `TLS works with the test's own authority`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server())
        let result = try Subprocess.run([
            "/usr/bin/openssl", "s_client", "-connect", "\(upstream.address)", "-servername", "localhost",
            "-CAfile", authority.certificateFile, "-verify_return_error", "-verify_hostname", "localhost",
        ])
        #expect(result.output.contains("Verify return code: 0"), "\(result)")
    }

    @Test func `a Unix socket serves too`() throws {
        let directory = try TemporaryDirectory()
        let upstream = try RawUpstream(unixPath: directory.path("api.sock"))
        #expect(try RawClient(to: upstream.address).request("GET", "/").text == "hello")
    }

    @Test func `a program's output and ending are seen`() throws {
        let result = try Subprocess.run(
            ["/bin/sh", "-c", "echo out; echo $A >&2; exit 3"], environment: ["A": "b"])
        #expect(result.ending == .exited(3) && result.output == "out\n" && result.errors == "b\n")
        let process = try Subprocess(["/bin/cat", "/dev/zero"])
        process.signal(SIGKILL)
        #expect(try process.waitForEnd() == .signalled(SIGKILL))
    }

    @Test func `a temporary directory goes with its object`() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory).path
        try directory?.write("secret", "x")
        #expect(TemporaryDirectory.mode(of: path + "/secret") == 0o600)
        directory = nil
        #expect(TemporaryDirectory.mode(of: path) == nil)
    }

    @Test func `many blocking tests at once do not starve each other`() throws {
        let gate = Gate()
        let waiting = Background { try gate.pass() }
        gate.open()
        try waiting.value()
    }

    @Test func `JSON is read strictly`() {
        #expect(TestJSON(parsing: #"{"a":[1,-2.5,true,null,"x\n\u00e9"]}"#)?["a"][4].string == "x\né")
        #expect(TestJSON(parsing: "{}x") == nil && TestJSON(parsing: #"{"a":1,"a":2}"#) == nil)
    }

    @Test func `metrics are summed by label`() {
        let metrics = Metrics(parsing: "# TYPE a counter\na{x=\"1\",y=\"2\"} 3\na{x=\"1\",y=\"3\"} 4\nb 1\n")
        #expect(metrics.sum("a", #"x="1""#) == 7 && metrics.sum("a", #"y="3""#) == 4 && metrics.sum("b") == 1)
    }
}
