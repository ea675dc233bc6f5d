// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// The memory of a connection is used again for another client's, however the one before has ended.
@Suite(.blocking) struct `A client that comes after another` {
    private static let secret = "ALICE-HAS-4711"
    /// A whole chunk, and behind it what is none.
    private static let broken = "e\r\n\(secret)\r\nZZZ\r\n"

    /// Answers one client in part; then each with an interim response, its own or that of `Expect`.
    private func upstream(whenBegun begun: Gate) throws -> RawUpstream {
        try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                if head.target == "/alice" {
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
                    try begun.pass()
                    return try wire.send(Self.broken)
                }
                if head["Expect"] != nil {
                    try wire.send("HTTP/1.1 100 Continue\r\n\r\n")
                    _ = try wire.readBody(of: head)
                } else {
                    try wire.send("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")
                }
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbob")
            }
        })
    }

    @Test(arguments: ["", "Expect: 100-continue\r\nContent-Length: 3\r\n"])
    func `gets no byte of the answer that broke off`(fields: String) throws {
        let begun = Gate()
        let sidecar = try Sidecar(upstream: upstream(whenBegun: begun), .init(top: "workers: 1"))
        let host = try sidecar.bearerd.proxy
        let alice = try sidecar.client()
        try alice.wire.send("GET /alice HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        #expect(try alice.wire.readHead()?.status == 200)
        #expect(try alice.wire.read(exactly: 10) == Array("5\r\nhello\r\n".utf8))
        begun.open()
        _ = try? alice.wire.readToEnd()
        let bob = try sidecar.client()
        try bob.wire.send("GET /bob HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\(fields)\r\n")
        if !fields.isEmpty { try bob.wire.send("bob") }
        let answer = String(decoding: try bob.wire.readToEnd(), as: UTF8.self)
        #expect(answer.hasPrefix("HTTP/1.1 10") && !answer.contains(Self.secret), "\(answer)")
    }
}
