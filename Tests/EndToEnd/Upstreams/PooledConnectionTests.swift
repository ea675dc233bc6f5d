// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What happens when a kept upstream connection turns out to be dead.
@Suite(.blocking) struct `Stale pooled connections` {
    /// Answers one request a connection, and lets the next one die without a byte.
    private static let dying: @Sendable (Wire) throws -> Void = { wire in
        guard try wire.readRequest() != nil else { return }
        try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        _ = try wire.readHead()
        wire.reset()
    }

    @Test func `an idempotent request that fails on one is sent once more on a fresh one`() throws {
        let upstream = try RawUpstream(script: Self.dying)
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        for method in ["GET", "GET", "PUT", "DELETE", "GET"] {
            let answer = try client.request(method, "/", body: method == "PUT" ? "again" : nil)
            #expect(answer.text == "ok", "\(method): \(answer.status)")
        }
    }

    @Test(arguments: ["102 Processing", "103 Early Hints"])
    func `a request is not sent twice whose answer has begun with`(interim: String) throws {
        let methods = Monitor<[String]>([])
        let upstream = try RawUpstream(script: { wire in
            while let request = try wire.readRequest() {
                methods.withLock { $0.append(request.head.method) }
                guard request.head.method == "DELETE" else {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                    continue
                }
                try wire.send("HTTP/1.1 \(interim)\r\n\r\n")
                return
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").text == "ok")
        let answer = try client.request("DELETE", "/")
        #expect(answer.status == 502 && answer.problem == "upstream_protocol")
        #expect(answer.interim.map { "\($0.status)" } == [String(interim.prefix(3))])
        #expect(methods.withLock { $0 } == ["GET", "DELETE"])
    }

    @Test func `a POST is not sent twice`() throws {
        let heads = Monitor<[String]>([])
        let upstream = try RawUpstream(script: { wire in
            guard let first = try wire.readRequest() else { return }
            heads.withLock { $0.append(first.head.method) }
            try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            guard let second = try wire.readRequest() else { return }
            heads.withLock { $0.append(second.head.method) }
            wire.reset()
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").text == "ok")
        let answer = try client.request("POST", "/", body: "once")
        #expect(answer.status == 502 && answer.problem == "upstream_protocol")
        #expect(heads.withLock { $0 } == ["GET", "POST"])
    }

    @Test func `a connection that the upstream closed while idle is not used`() throws {
        let upstream = try RawUpstream()
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        for round in 1...5 {
            #expect(try client.request("POST", "/", body: "x").text == "hello")
            upstream.closeConnections()
            try upstream.awaitNoConnections()
            try eventually("the pool to notice") {
                try sidecar.metrics().sum("bearerd_upstream_connections") == 0
            }
            #expect(upstream.requests.count == round)
        }
    }

    @Test func `bytes on an idle connection are never taken for an answer`() throws {
        let poison = Gate()
        let upstream = try RawUpstream(script: { wire in
            while try wire.readRequest() != nil {
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ntrue")
                if poison.isOpen { continue }
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse")
                poison.open()
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").text == "true")
        try poison.pass()
        for _ in 0..<3 { #expect(try client.request("GET", "/").text == "true") }
    }

    @Test func `a connection is not kept after an answer that came before the end of the request`() throws {
        let upstream = try RawUpstream(script: { wire in
            guard let head = try wire.readHead() else { return }
            if head.method == "POST" {
                try wire.send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\nConnection: close\r\n\r\nno")
                wire.close()
            } else {
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            }
        })
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        let host = try sidecar.bearerd.proxy
        try client.wire.send("POST / HTTP/1.1\r\nHost: \(host)\r\nContent-Length: 100000\r\n\r\nsome")
        let answer = try client.wire.readResponse()
        #expect(answer.status == 413 && answer.text == "no")
        #expect(try sidecar.get().text == "ok")
    }

    /// An upstream whose connections each send `answer` to the first request and reset, both while bearerd stands still.
    private func resetting(
        _ answer: String
    ) throws -> (upstream: RawUpstream, arrived: Gate, goes: Gate, gone: Gate) {
        let (arrived, goes, gone) = (Gate(), Gate(), Gate())
        let isFirst = Monitor(true)
        let upstream = try RawUpstream(script: { wire in
            guard
                isFirst.withLock({ isFirst in
                    defer { isFirst = false }
                    return isFirst
                })
            else {
                while try wire.readRequest() != nil {
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfresh")
                }
                return
            }
            _ = try wire.readRequest()
            arrived.open()
            try goes.pass()
            try wire.send(answer)
            wire.reset()
            gone.open()
        })
        return (upstream, arrived, goes, gone)
    }

    @Test(arguments: ["Content-Length: 9\r\n\r\nhalf", "Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n", ""])
    func `a reset that comes together with half an answer is a cut at once`(half: String) throws {
        let (upstream, arrived, goes, gone) = try resetting("HTTP/1.1 200 OK\r\n" + half)
        let sidecar = try Sidecar(upstream: upstream)
        let client = try sidecar.client()
        try client.send("POST", "/")
        try arrived.pass()
        sidecar.bearerd.process.signal(SIGSTOP)
        goes.open()
        try gone.pass()
        sidecar.bearerd.process.signal(SIGCONT)
        let answer = try client.wire.readResponse()
        #expect(half.isEmpty ? answer.status == 502 : answer.status == 200 && !answer.isComplete)
    }

    @Test func `a reset that comes together with an answer does not harm the next request, even a POST`()
        throws
    {
        let (upstream, arrived, goes, gone) = try resetting(
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfirst")
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1"))
        let client = try sidecar.client()
        try client.send("POST", "/", body: "one")
        try arrived.pass()
        sidecar.bearerd.process.signal(SIGSTOP)
        goes.open()
        try gone.pass()
        sidecar.bearerd.process.signal(SIGCONT)
        #expect(try client.wire.readResponse().text == "first")
        #expect(try client.request("POST", "/", body: "two").text == "fresh")
    }
}
