// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What is said and logged of a request whose head could not be received.
@Suite(.blocking) struct `A refused head` {
    private static let settings = Sidecar.Settings(
        top: "limits: {uri_bytes: 1KiB, header_bytes: 2KiB}\ntimeouts: {header: 300ms}")
    private static let long = String(repeating: "a", count: 3000)

    @Test(arguments: [
        (" / HTTP/1.1\r\nHost : x\r\n\r\n", 400), (" /a b HTTP/1.1\r\n\r\n", 400),
        (" / HTTP/1.1\r\n\r\n", 400),
        (" /\(long) HTTP/1.1\r\n\r\n", 414), (" / HTTP/1.1\r\nA: \(long)\r\n\r\n", 431),
        (" / HTTP/3.0\r\n\r\n", 505), (" / HTTP/1.1\r\nHo", 408), (" /", 408),
    ])
    func `gets an answer without a body where the method is HEAD`(rest: String, status: Int) throws {
        let sidecar = try Sidecar(Self.settings)
        for method in ["HEAD", "\r\nHEAD"] {
            let client = try sidecar.client()
            let answer = try client.exchange(method + rest, method: "HEAD")
            #expect(answer.status == status && answer["Content-Length"] != "0")
            #expect(try client.wire.endsCleanly())
        }
        try sidecar.bearerd.logLine("the access log") {
            $0["status"] == "\(status)" && $0["method"] == "HEAD" && $0["bytes_out"] == "0"
        }
        let answer = try sidecar.client().exchange("GET" + rest)
        #expect(answer.status == status && answer["Content-Length"] == "\(answer.text.utf8.count)")
    }

    private static let hello = "\u{16}\u{3}\u{1}\0\u{5}\u{1}\0\0\u{1}\0"

    @Test func `that is a TLS handshake is told what is spoken here`() throws {
        let sidecar = try Sidecar()
        for address in [try sidecar.bearerd.proxy, try sidecar.bearerd.admin] {
            let answer = try RawClient(to: address).exchange(Self.hello)
            #expect(answer.status == 400, "\(answer.text)")
            #expect(
                answer.json["detail"].string?.contains(
                    "TLS was begun, and plain HTTP is spoken here: the URL is http://, not https://") == true,
                "\(answer.text)")
        }
    }

    @Test func `that is a TLS handshake is warned of once in a minute, with what to do`() throws {
        let sidecar = try Sidecar()
        let address = try sidecar.bearerd.proxy
        for _ in 0..<3 {
            #expect(try RawClient(to: address).exchange(Self.hello).status == 400)
        }
        #expect(try sidecar.client().exchange("( / HTTP/1.1\r\n\r\n").status == 400)
        let words = "a client speaks TLS where plain HTTP is spoken"
        let line = try sidecar.bearerd.logLine("the warning") { $0.message == words }
        #expect(line["level"] == "warning" && line["address"] == "\(address)", "\(line.json)")
        #expect(line["peer"] == "127.0.0.1" && line["left_out"] == "0", "\(line.json)")
        #expect(line["hint"]?.contains("http://") == true, "\(line.json)")
        _ = try sidecar.bearerd.terminate()
        #expect(sidecar.bearerd.logLines.count { $0.message == words } == 1)
    }

    @Test func `is logged with its own method and no other's bytes`() throws {
        let sidecar = try Sidecar(.init(top: "workers: 1"))
        for next in [
            "PATCH / HTTP/1.1\r\nA\r\n\r\n", "(", "PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: x\r\n\r\n",
        ] {
            let client = try sidecar.client()
            #expect(try client.request("POST", "/", body: "hello").status == 200)
            #expect(try client.exchange(next).status >= 400)
        }
        for (method, status) in [("PATCH", "400"), ("", "400"), ("PUT", "501")] {
            let line = try sidecar.bearerd.logLine("its line") {
                $0["status"] == status && $0["method"] == method
            }
            #expect(line["bytes_in"] == "0")
        }
    }
}
