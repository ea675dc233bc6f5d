// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Requests that may not be sent twice, at upstreams that close idle connections.
@Suite(.blocking) struct `Upstreams that close` {
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"

    @Test func `a few milliseconds after each answer lose hardly a POST, and see none twice`() throws {
        let seen = Monitor<[String: Int]>([:])
        let upstream = try RawUpstream(script: { wire in
            repeat {
                guard let request = try wire.readRequest() else { return }
                seen.withLock { $0[request.text, default: 0] += 1 }
                try wire.send(Self.answer + "\r\nok")
            } while try wire.hasSomething(within: .microseconds(Int.random(in: 0...4_000)))
        })
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1\nlog: {access: false}"))
        let client = try sidecar.client()
        var failures = 0
        for number in 0..<2_000 {
            // In step with the upstream it would never meet an end that is on its way.
            try? Gate().pass(within: .microseconds(Int.random(in: 0...4_000)))
            let answer = try client.request("POST", "/", body: "\(number)")
            if answer.status != 200 { failures += 1 }
        }
        // It is 2 % where nothing is learned.
        #expect(failures <= 10)
        #expect(seen.withLock { $0.values.allSatisfy { $0 == 1 } && $0.count >= 2_000 - failures })
    }

    @Test func `by an announced time are left alone before it is over`() throws {
        for (field, connections) in [
            ("Keep-Alive: timeout=1\r\n", 2), ("Keep-Alive: max=9, Timeout = 1\r\n", 2), ("", 1),
        ] {
            let idled = Gate()
            let upstream = try RawUpstream(script: { wire in
                while try wire.readRequest() != nil {
                    try wire.send(Self.answer + field + "\r\nok")
                    if try !wire.hasSomething(within: .milliseconds(600)) { idled.open() }
                }
            })
            let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1"))
            let client = try sidecar.client()
            #expect(try client.request("POST", "/", body: "first").status == 200)
            try idled.pass()
            #expect(try client.request("POST", "/", body: "second").status == 200)
            #expect(upstream.connectionCount == connections, "\(field)")
            // What may be sent twice takes what there is.
            #expect(try client.request("GET", "/").status == 200)
            #expect(upstream.connectionCount == connections, "\(field)")
        }
    }

    @Test func `after a time that was seen are left alone before it is over`() throws {
        let idled = Monitor(0)
        let upstream = try RawUpstream(script: { wire in
            while try wire.readRequest() != nil {
                try wire.send(Self.answer + "\r\nok")
                guard try !wire.hasSomething(within: .milliseconds(700)) else { continue }
                idled.withLock { $0 += 1 }
                guard try wire.hasSomething(within: .milliseconds(300)) else { return }
            }
        })
        let sidecar = try Sidecar(upstream: upstream, .init(top: "workers: 1"))
        let client = try sidecar.client()
        #expect(try client.request("POST", "/", body: "first").status == 200)
        try upstream.awaitNoConnections()
        #expect(try client.request("POST", "/", body: "second").status == 200)
        try idled.wait(for: "the second connection to be idle") { $0 == 2 ? () : nil }
        #expect(try client.request("POST", "/", body: "third").status == 200)
        #expect(upstream.connectionCount == 3)
    }
}
