// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What doctor advises about an upstream that cannot be asked is about the cause.
@Suite(.blocking) struct `The mend of an upstream` {
    private func fix(_ upstream: String, _ more: String = "") throws -> String {
        var fixture = try DoctorFixture()
        fixture.settings.moreRoutes =
            "- path: /x\n  upstream: \(upstream)\n  identity: none\n\(indented(more, by: 2))"
        let rows = try fixture.run("--check", "upstream").checks
        let row = try #require(rows.first { $0["seen"].string?.hasPrefix("/x at ") == true })
        #expect(row["result"].string == "fail", "\(row)")
        return row["fix"].string ?? ""
    }

    @Test func `is the name, the port, or TLS`() throws {
        let nobody = try Socket.refusing()
        #expect(
            try fix("https://api.invalid")
                == "the name api.invalid in routes[1].upstream, or the servers in /etc/resolv.conf")
        #expect(
            try fix("http://\(nobody.address)")
                == "start what should listen at \(nobody.address), or mend the port in routes[1].upstream")
        let plain = try RawUpstream(script: { wire in
            _ = try wire.readSome()
            try wire.send("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        })
        let tls = try fix("https://127.0.0.1:\(plain.url.split(separator: ":").last ?? "")")
        #expect(tls.contains("speaks plain HTTP, http:// in routes[1].upstream"), "\(tls)")
        let mute = try RawUpstream(script: { wire in while try !wire.readSome().isEmpty {} })
        let silent = try fix("https://127.0.0.1:\(mute.url.split(separator: ":").last ?? "")")
        #expect(silent.contains("takes the connection and is silent"), "\(silent)")
        let secure = try RawUpstream(tls: TLSAuthority().server())
        let http = try fix("http://127.0.0.1:\(secure.url.split(separator: ":").last ?? "")")
        #expect(http.hasSuffix("does it want https:// in routes[1].upstream?"), "\(http)")
    }

    @Test func `is upstream_protocol where its TLS has no HTTP/2`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream(tls: authority.server().choosing("\u{8}http/1.1"))
        let more = "upstream_protocol: h2\nca_file: \(authority.certificateFile)"
        #expect(try fix(upstream.url, more).hasPrefix("upstream_protocol: http1 or auto"))
    }

    @Test func `is the path of a socket`() throws {
        let directory = try TemporaryDirectory()
        let absent = try fix("http+unix:\(directory.path("absent"))")
        #expect(
            absent.hasPrefix(
                "start what makes \(directory.path("absent")), or mend the path in routes[1].upstream"),
            "\(absent)")
        let file = try directory.write("file", "")
        #expect(try fix("http+unix:\(file)") == "\(file) is no socket: mend the path in routes[1].upstream")
    }
}
