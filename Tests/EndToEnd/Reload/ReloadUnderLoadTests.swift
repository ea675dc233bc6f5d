// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// What a person has who reloads again and again while others use the daemon.
@Suite(.blocking) struct `Two hundred reloads` {
    private static let answerSize = 10 << 20

    /// An upstream with a tunnel, an event stream, a long answer and short ones; `gate` lets the long ones end.
    private static func upstream(_ gate: Gate) throws -> RawUpstream {
        try RawUpstream { request in
            switch request.head.target {
            case "/socket":
                return .echo
            case "/events":
                return Reply { wire in
                    try wire.send(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
                            + "9\r\ndata: 1\n\n\r\n")
                    try gate.pass()
                    try wire.send("9\r\ndata: 2\n\n\r\n0\r\n\r\n")
                    return true
                }
            case "/long":
                return Reply { wire in
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(answerSize)\r\n\r\n")
                    try wire.send([UInt8](repeating: 1, count: answerSize / 2))
                    try gate.pass()
                    try wire.send([UInt8](repeating: 2, count: answerSize / 2))
                    return true
                }
            default: return .ok()
            }
        }
    }

    @Test(.timeLimit(.minutes(20)))
    func `fail nothing, close nothing and ask for no token`() throws {
        let gate = Gate()
        let sidecar = try Sidecar(upstream: Self.upstream(gate))
        try sidecar.awaitToken()
        let host = try sidecar.bearerd.proxy
        let (socket, events, long) = (try sidecar.client(), try sidecar.client(), try sidecar.client())
        try socket.wire.send(
            "GET /socket HTTP/1.1\r\nHost: \(host)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
        #expect(try socket.wire.readHead()?.status == 101)
        try events.send("GET", "/events")
        try long.send("GET", "/long")
        let answer = Background { try long.wire.readResponse() }
        try sidecar.upstream.request(3)

        let isOver = Monitor(false)
        let load = try (0..<2).map { _ in
            let client = try sidecar.client()
            return Background { () -> [Int] in
                var statuses: [Int] = []
                while !isOver.withLock({ $0 }) { statuses.append(try client.request("GET", "/x").status) }
                return statuses
            }
        }
        func text(_ number: Int) -> String {
            Sidecar.configuration(
                provider: sidecar.provider, upstream: sidecar.upstream.url,
                clientSecret: sidecar.clientSecret,
                directory: sidecar.directory,
                .init(
                    moreRoutes: number % 2 == 0
                        ? "- {path: /b, upstream: '\(sidecar.upstream.url)', identity: default}" : "",
                    listen: number % 3 == 0 ? "[127.0.0.1:0, 127.0.0.1:0]" : "127.0.0.1:0"))
        }
        func reload(_ numbers: Range<Int>) throws {
            for number in numbers {
                try sidecar.directory.write("config.yaml", text(number))
                let answer = try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
                #expect(answer.status == 200, "\(number): \(answer.text)")
                try socket.wire.send("ping")
                #expect(try socket.wire.read(exactly: 4) == Array("ping".utf8))
            }
        }
        try reload(0..<20)
        let before = try sidecar.metrics().sum("process_open_fds")
        try reload(20..<200)
        isOver.withLock { $0 = true }
        for client in load {
            let statuses = try client.value()
            #expect(!statuses.isEmpty && statuses.allSatisfy { $0 == 200 })
        }
        #expect(abs(try sidecar.metrics().sum("process_open_fds") - before) < 8)
        gate.open()
        let whole = try answer.value()
        #expect(whole.isComplete && whole.body.count == Self.answerSize)
        let stream = try events.wire.readResponse()
        #expect(stream.isComplete && stream.text == "data: 1\n\ndata: 2\n\n")
        #expect(sidecar.provider.requests.count == 1)
        let metrics = try sidecar.metrics()
        #expect(metrics.sum("bearerd_config_reloads_total", "result=\"success\"") == 200)
    }

    @Test(.timeLimit(.minutes(20)))
    func `leave as much memory and as many descriptors in use as there were`() throws {
        let directory = try TemporaryDirectory()
        let top = "timeouts: {token_wait: 100ms}\nlog: {level: debug}\naccess: {key_file: key}"
        try directory.write("key", "fake-local-key\n")
        let sidecar = try Sidecar(directory: directory, .init(top: top))
        try sidecar.awaitToken()
        let admin = try RawClient(to: sidecar.bearerd.admin)
        // Every second time there is one more listener, route, identity and certificate authority.
        let more = """
            more:
              issuer: \(sidecar.provider.issuer)
              client_id: other
              client_secret: \(sidecar.clientSecret)
              grant_type: client_credentials
            """
        let authority = try TLSAuthority()
        let certificate = TemporaryDirectory.contents(of: authority.certificateFile)
        let file = try directory.write("ca.pem", bytes: certificate)
        let texts = [
            Sidecar.Settings(
                top: top,
                moreRoutes: """
                    - {path: /b, upstream: '\(sidecar.upstream.url)', identity: more}
                    - {path: /c, upstream: 'https://localhost:1', ca_file: '\(file)', identity: none}
                    """,
                moreIdentities: more, listen: "[127.0.0.1:0, 127.0.0.1:0]"),
            Sidecar.Settings(top: top),
        ].map { settings in
            Sidecar.configuration(
                provider: sidecar.provider, upstream: sidecar.upstream.url,
                clientSecret: sidecar.clientSecret, directory: directory, settings)
        }
        func reload(_ numbers: Range<Int>) throws {
            for number in numbers {
                try directory.write("config.yaml", texts[number % 2])
                let answer = try admin.request("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
                #expect(answer.status == 200, "\(number): \(answer.text)")
            }
            try eventually("the last session that was taken away to end") {
                sidecar.bearerd.logLines.count {
                    $0.message == "a session of an earlier configuration has ended"
                } == numbers.upperBound / 2
            }
        }
        try reload(0..<50)
        var (descriptors, memory) = (0, 0)
        try eventually("everything to come to rest") {
            defer { descriptors = sidecar.descriptorCount }
            return descriptors == sidecar.descriptorCount
        }
        memory = sidecar.bearerd.anonymousBytes
        try reload(50..<200)
        try eventually("as many descriptors as before: \(descriptors)") {
            sidecar.descriptorCount == descriptors
        }
        let after = sidecar.bearerd.anonymousBytes
        #expect(after < memory + memory / 4 + (4 << 20), "\(memory) bytes, then \(after)")
    }
}
