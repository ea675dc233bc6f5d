// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import CBearerdLoad
import Testing

/// Every limit holds when many run against it at once.
@Suite(.blocking) struct `Limits` {
    @Test func `of upstream connections are kept to, and everybody gets their turn`() throws {
        let most = Monitor((now: 0, most: 0))
        let upstream = try RawUpstream { _ in
            most.withLock { state in
                state.now += 1
                state.most = max(state.most, state.now)
            }
            return Reply { wire in
                _ = try wire.hasSomething(within: .milliseconds(5))
                most.withLock { $0.now -= 1 }
                try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                return true
            }
        }
        let sidecar = try Sidecar(
            upstream: upstream, .init(top: "limits:\n  upstream_connections: 3\nworkers: 2"))
        let statuses = try concurrently(60) { _ in
            let client = try sidecar.client()
            return try (0..<5).map { _ in try client.request("GET", "/").status }
        }
        #expect(statuses.joined().allSatisfy { $0 == 200 })
        #expect(most.withLock { $0.most } <= 3 && upstream.openConnectionCount <= 3)
    }

    @Test func `of the rate are a listener's own, and let requests in again when they said`() throws {
        let sidecar = try Sidecar(
            .init(
                top: "limits:\n  requests_per_second: 4\nworkers: 1",
                listen: "[127.0.0.1:0, 127.0.0.1:0]"))
        let (first, second) = try (
            RawClient(to: sidecar.bearerd.address(of: .proxy, 0)),
            RawClient(to: sidecar.bearerd.address(of: .proxy, 1))
        )
        var answers: [RawResponse] = []
        let start = ContinuousClock.now
        repeat { answers.append(try first.request("GET", "/")) } while answers.last?.status == 200
        let limited = try #require(answers.last)
        #expect(limited.status == 429 && answers.count >= 5)
        let mayHaveBeenRefilled = (ContinuousClock.now - start).components.seconds * 4
        #expect(answers.count <= 5 + Int(mayHaveBeenRefilled) + 4)
        #expect(try second.request("GET", "/").status == 200)
        let wait = try #require(limited["Retry-After"].flatMap(Int.init))
        #expect((1...2).contains(wait))
        try? Gate().pass(within: .seconds(wait))
        #expect(try first.request("GET", "/").status == 200)
    }

    @Test func `of the rate are not used up by those who may not come in`() throws {
        let key = "key-" + randomText()
        let sidecar = try Sidecar(
            .init(
                top: """
                    access: {origins: ['https://app.test'], key: \(key)}
                    limits: {requests_per_second: 2}
                    """))
        let client = try sidecar.client()
        for fields in [
            [], [("X-Bearerd-Key", "guess")], [("Host", "evil.test"), ("X-Bearerd-Key", key)],
            [("Origin", "https://evil.test"), ("X-Bearerd-Key", key)],
            [("Sec-Fetch-Site", "cross-site"), ("X-Bearerd-Key", key)],
        ] {
            for _ in 0..<10 { #expect([403, 421].contains(try client.request("GET", "/", fields).status)) }
        }
        let statuses = try (0..<3).map { _ in try client.request("GET", "/", [("X-Bearerd-Key", key)]).status
        }
        #expect(statuses.prefix(2) == [200, 200])
    }

    @Test func `of heads bound what each connection takes`() throws {
        let sidecar = try Sidecar(.init(top: "timeouts:\n  header: 3s"))
        #expect(try sidecar.get().status == 200)
        let before = sidecar.bearerd.residentBytes
        let bombs = try (0..<100).map { _ in try sidecar.client() }
        let head = "GET / HTTP/1.1\r\nHost: \(try sidecar.bearerd.proxy)\r\n"
        let fields = (0..<900).map { "X-\($0): \(String(repeating: "y", count: 55))\r\n" }.joined()
        for client in bombs { try client.wire.send(head + fields) }
        // Some more, one field at a time, and never the end.
        for client in bombs { try client.wire.send("X-Last: y\r\n") }
        #expect(try sidecar.get().status == 200)
        let each = (sidecar.bearerd.residentBytes - before) / bombs.count
        #expect(each < 192 << 10 || Sanitizer.isOn, "\(each >> 10) KiB each")
        for client in bombs { #expect(try client.wire.readResponse().status == 408) }
        for (text, status) in [
            (head + "A: " + String(repeating: "b", count: 1 << 20), 431),
            (head + String(repeating: "A: b\r\n", count: 100_000), 431),
            ("GET /" + String(repeating: "a", count: 1 << 20), 414),
        ] {
            let client = try sidecar.client()
            let writer = Background { try? client.wire.send(text) }
            #expect(try client.wire.readResponse().status == status)
            _ = try writer.value()
        }
    }

    @Test func `of a thousand routes are none`() throws {
        let upstream = try RawUpstream()
        let routes = (0..<1_000).map { index in
            """
            - path: /r\(index)/\(index % 7)
              upstream: \(upstream.url)/u\(index)
              strip_prefix: true
              identity: default

            """
        }
        let sidecar = try Sidecar(upstream: upstream, .init(moreRoutes: routes.joined()))
        let client = try sidecar.client()
        for index in stride(from: 0, to: 1_000, by: 7) {
            #expect(try client.request("GET", "/r\(index)/\(index % 7)/x").status == 200)
            #expect(upstream.requests.last?.head.target == "/u\(index)/x")
        }
        #expect(try client.request("GET", "/r1/none").status == 200)
        #expect(upstream.requests.last?.head.target == "/r1/none")
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
        #expect(
            sidecar.bearerd.residentBytes < 96 << 20 || Sanitizer.isOn,
            "\(sidecar.bearerd.residentBytes >> 20) MiB")
    }

    @Test func `of refreshes are one, for two thousand who wait`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        provider.script({ _, provider in provider.tokens().held(by: gate) })
        let server = try LoadServer()
        let directory = try TemporaryDirectory()
        let bearerd = try BearerdProcess(
            configuration: Sidecar.configuration(
                provider: provider, upstream: server.url, clientSecret: "not-a-secret", directory: directory,
                // However long two thousand take on a busy machine: the first waits for the last, and half of them for others' connections.
                .init(top: "timeouts: {token: 10m, token_wait: 10m, connect: 10m}")),
            in: directory)
        let address = try bearerd.proxy
        let load = Background { Load(2_000, to: address, connections: 2_000, requestsPerConnection: 1) }
        try eventually("two thousand to wait") {
            Metrics(parsing: try RawClient(to: bearerd.admin).request("GET", "/metrics").text)
                .sum("bearerd_open_connections") >= 2_000
        }
        gate.open()
        let seen = try load.value()
        #expect(
            seen.started >= 2_000 && seen.own == 0 && seen.unauthorized == 0 && seen.faults == 0, "\(seen)")
        #expect(provider.requests.count == 1)
    }
}
