// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What breaks HTTP's grammar, or could mean two things, goes no further, in both directions.
@Suite(.blocking) struct `Malformed messages are refused` {
    private static let codes = [
        400: "bad_request", 414: "uri_too_long", 431: "headers_too_large", 501: "not_implemented",
        502: "upstream_protocol", 505: "version_not_supported",
    ]

    @Test(arguments: [false, true])
    func `requests, whole and in pieces, without a byte to the upstream`(inPieces: Bool) throws {
        let sidecar = try Sidecar()
        for message in MalformedMessage.requests {
            try expectRefusal(of: message, inPieces: inPieces, by: sidecar)
            #expect(sidecar.upstream.requests.isEmpty, "\(message)")
        }
        #expect(try sidecar.get().status == 200)
    }

    @Test func `bodies, without an end to the upstream`() throws {
        let sidecar = try Sidecar()
        for message in MalformedMessage.requestBodies {
            try expectRefusal(of: message, by: sidecar)
            #expect(sidecar.upstream.requests.isEmpty, "\(message)")
        }
        #expect(try sidecar.get().status == 200)
    }

    @Test(arguments: [false, true])
    func `answers, whole and in pieces, which cost the upstream its connection`(inPieces: Bool) throws {
        let sidecar = try Sidecar(Sidecar.Settings(top: "workers: 1"))
        for message in MalformedMessage.responses {
            sidecar.upstream.answer { _ in .pieces(of: message, inPieces ? 2 : 1) }
            let answer = try sidecar.get()
            #expect(answer.status == 502 && answer.problem == "upstream_protocol", "\(message)")
            #expect(answer["Proxy-Status"] == "bearerd; error=\(message.error)", "\(message)")
            #expect(answer.interim.allSatisfy { [100, 102].contains($0.status) }, "\(message)")
            #expect(!answer.raw.contains([UInt8]("evil".utf8)), "\(message)")
            try sidecar.upstream.awaitNoConnections()
        }
        sidecar.upstream.answer { _ in .ok() }
        #expect(try sidecar.get().status == 200)
    }

    @Test func `an answer that turns malformed on its way reaches the client as cut`() throws {
        let sidecar = try Sidecar()
        for rest in ["x\r\n", "1\r\nab\r\n0\r\n\r\n", "1\na\r\n0\r\n\r\n", "0\r\nA b\r\n\r\n", "0\n\n"] {
            let gate = Gate()
            sidecar.upstream.answer { _ in
                Reply { wire in
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n")
                    try gate.pass()
                    try wire.send(rest)
                    return true
                }
            }
            let client = try sidecar.client()
            try client.send("GET", "/")
            #expect(try client.wire.readHead()?.status == 200)
            #expect(try client.wire.readChunk() == [UInt8]("abc".utf8))
            gate.open()
            #expect(try client.wire.endsCleanly(), "\(rest.debugDescription)")
            try sidecar.upstream.awaitNoConnections()
        }
    }

    @Test func `bytes behind an answer are nobody's`() throws {
        let sidecar = try Sidecar(Sidecar.Settings(top: "workers: 1"))
        let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        for (status, fields, body) in [
            (200, "Content-Length: 2\r\n", "ok"), (200, "Content-Length: 0\r\n", ""),
            (200, "Transfer-Encoding: chunked\r\n", "2\r\nok\r\n0\r\n\r\n"), (204, "", ""),
            (304, "Content-Length: 4\r\n", ""), (204, "Content-Length: 4\r\n", ""),
            (304, "Transfer-Encoding: chunked\r\n", ""),
        ] {
            sidecar.upstream.answer { _ in
                .raw("HTTP/1.1 \(status) First\r\n\(fields)\r\n\(body)\(evil)")
            }
            let client = try sidecar.client()
            #expect(try client.request("GET", "/first").status == status)
            try sidecar.upstream.awaitNoConnections()
            sidecar.upstream.answer { _ in .ok("second") }
            let second = try client.request("GET", "/second")
            #expect(second.status == 200 && second.text == "second", "\(status) \(fields)")
            sidecar.upstream.closeConnections()
            try sidecar.upstream.awaitNoConnections()
        }
    }

    @Test func `the tables hold enough of them`() {
        let count =
            MalformedMessage.requests.count + MalformedMessage.requestBodies.count
            + MalformedMessage.responses.count
        #expect(count >= 300, "\(count)")
    }

    private func expectRefusal(
        of message: MalformedMessage, inPieces: Bool = false, by sidecar: Sidecar
    ) throws {
        let host = "\(try sidecar.bearerd.proxy)"
        let bytes = Array(message.text.replacing("$host", with: host).utf8)
        let client = try sidecar.client()
        if inPieces {
            let half = bytes.count / 2
            try client.wire.send(Array(bytes[..<half]))
            try client.wire.send(Array(bytes[half...]))
        } else {
            try client.wire.send(bytes)
        }
        guard let answer = try? client.wire.readResponse() else {
            Issue.record("no answer to \(message)")
            return
        }
        #expect(answer.status == message.status, "\(message)")
        #expect(answer.problem == Self.codes[message.status], "\(message)")
        #expect(answer["Connection"] == "close", "\(message)")
        #expect(try client.wire.endsCleanly(), "\(message)")
    }
}

extension Reply {
    /// The message in so many sends.
    fileprivate static func pieces(of message: MalformedMessage, _ count: Int) -> Reply {
        Reply { wire in
            let bytes = Array(message.text.utf8)
            let size = max(1, (bytes.count + count - 1) / count)
            for start in stride(from: 0, to: bytes.count, by: size) {
                try wire.send(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            if message.endsConnection { wire.close() }
            return !message.endsConnection
        }
    }
}
