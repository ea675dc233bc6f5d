// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// `demo` and the repository's own configuration work as they are.
@Suite(.blocking) struct `For trying it out` {
    private static func freePorts(_ count: Int) throws -> [UInt16] {
        let held = try (0..<count).map { _ in try Socket.refusing() }
        return held.map(\.address.port)
    }

    /// The repository's configuration with free ports in place of its own.
    private static func repositoryConfiguration() throws -> String {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        let text = String(decoding: TemporaryDirectory.contents(of: "/\(root)/config.yaml"), as: UTF8.self)
        let ports = Set(text.matches(of: #/(?:127\.0\.0\.1|localhost):(\d+)/#).map { String($0.output.1) })
            .sorted()
        var result = text
        for (port, free) in zip(ports, try freePorts(ports.count)) {
            result.replace(":\(port)", with: ":\(free)")
        }
        return result
    }

    private static func checkWhoami(_ address: Address) throws -> TestJSON {
        let answer = try RawClient(to: address).request("GET", "/whoami")
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.json.object.isEmpty == false)
        return answer.json
    }

    @Test func `the repository's configuration answers whoami with the claims of the token`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("config.yaml", try Self.repositoryConfiguration())
        let bearerd = try BearerdProcess(
            arguments: ["run", "-c", file], environment: ["HOME": directory.path], directory: directory.path)
        let claims = try Self.checkWhoami(bearerd.proxy)
        #expect("\(claims)".contains("iss"))
        let echo = try RawClient(to: bearerd.proxy).request("POST", "/echo", body: "hello")
        #expect(echo.status == 200 && echo.text.contains("hello"))
        let api = try RawClient(to: bearerd.address(of: .developmentAPI)).request("GET", "/whoami")
        #expect(api.status == 401 && api["WWW-Authenticate"]?.hasPrefix("Bearer") == true)
        #expect(try bearerd.terminate() == .exited(0))
    }

    @Test func `tokens are bound to a key where the configuration asks for that`() throws {
        let directory = try TemporaryDirectory()
        let text = try Self.repositoryConfiguration().replacing(
            "grant_type: client_credentials\n    scope",
            with: "grant_type: client_credentials\n    dpop: true\n    scope", maxReplacements: 1)
        #expect(text.contains("dpop: true"))
        let file = try directory.write("config.yaml", text)
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file], directory: directory.path)
        let claims = try Self.checkWhoami(bearerd.proxy)
        #expect(claims["cnf"]["jkt"].string?.utf8.count == 43)
        let api = try RawClient(to: bearerd.address(of: .developmentAPI)).request("GET", "/whoami")
        #expect(api.status == 401 && api["WWW-Authenticate"]?.contains("DPoP") == true)
    }

    @Test func `an identity that a reload brings is a client of the development provider too`() throws {
        let directory = try TemporaryDirectory()
        let text = try Self.repositoryConfiguration()
        let file = try directory.write("config.yaml", text)
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file], directory: directory.path)
        _ = try Self.checkWhoami(bearerd.proxy)
        try directory.write(
            "config.yaml",
            text.replacing("client_id: demo\n", with: "client_id: another\n", maxReplacements: 1))
        bearerd.process.signal(SIGHUP)
        try bearerd.logLine("the reload") { $0.message == "configuration reloaded" }
        try eventually("the new client's token") {
            try Self.checkWhoami(bearerd.proxy)["client_id"].string == "another"
        }
    }

    @Test func `the sample API's events arrive one by one`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("config.yaml", try Self.repositoryConfiguration())
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file], directory: directory.path)
        let client = try RawClient(to: bearerd.proxy)
        try client.send("GET", "/events")
        let head = try #require(try client.wire.readHead())
        #expect(head.status == 200 && head["Content-Type"]?.hasPrefix("text/event-stream") == true)
        #expect(try client.wire.readSome().isEmpty == false)
    }

    @Test func `check and the log call the development provider out`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("config.yaml", try Self.repositoryConfiguration())
        let result = try BearerdProcess.command("check", "-c", file, directory: directory.path)
        #expect(result.exit == 0 && (result.output + result.errors).contains("development"))
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file], directory: directory.path)
        try bearerd.logLine("a warning") { $0["level"] == "warning" && "\($0.json)".contains("development") }
    }

    @Test func `the development provider is refused off loopback`() throws {
        let directory = try TemporaryDirectory()
        let text = try Self.repositoryConfiguration().replacing(
            #/provider: 127\.0\.0\.1:(\d+)/#, with: { "provider: 0.0.0.0:\($0.output.1)" })
        #expect(text.contains("0.0.0.0"))
        #expect(try BearerdProcess.command("check", "-c", directory.write("c.yaml", text)).exit == 78)
    }

    /// A `HealthCheckRequest` for a service, as a message on the wire.
    private static func healthRequest(_ service: String) -> String {
        let field = service.isEmpty ? [] : [0x0A, UInt8(service.utf8.count)] + Array(service.utf8)
        return String(decoding: [0, 0, 0, 0, UInt8(field.count)] + field, as: UTF8.self)
    }

    private static let call = [("content-type", "application/grpc"), ("te", "trailers")]

    @Test func `the sample API answers health checks of gRPC, through bearerd alone`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("config.yaml", try Self.repositoryConfiguration())
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file], directory: directory.path)
        _ = try Self.checkWhoami(bearerd.proxy)
        let client = try HTTP2Client(to: bearerd.proxy)
        func check(_ path: String, _ body: String, at client: HTTP2Client) throws -> HTTP2Client.Answer {
            try client.request("POST", "/grpc.health.v1.Health/\(path)", Self.call, body: body)
        }
        for service in ["", "grpc.health.v1.Health"] {
            let answer = try check("Check", Self.healthRequest(service), at: client)
            #expect(answer.status == 200 && answer.content == [0, 0, 0, 0, 2, 8, 1])
            #expect(answer.trailers == ["grpc-status": "0"])
        }
        for (path, body, status) in [
            ("Check", Self.healthRequest("shop.Orders"), "5"), ("List", Self.healthRequest(""), "12"),
            ("Check", "no message", "13"), ("Check", "\u{1}\0\0\0\0", "13"),
            ("Check", "\0\0\0\0\u{2}\u{A}\u{9}", "13"),
        ] {
            let answer = try check(path, body, at: client)
            #expect(
                answer.status == 200 && answer.head["grpc-status"] == status, "\(path) \(body): \(answer)")
        }
        // A watcher is told at once, and nothing more while nothing changes.
        let watch = try client.begin("POST", "/grpc.health.v1.Health/Watch", Self.call, endsStream: false)
        try client.send(.data(Self.healthRequest(""), stream: watch, endsStream: true))
        try client.wait { $0.answers[watch]?.content == [0, 0, 0, 0, 2, 8, 1] }
        #expect(try check("Check", Self.healthRequest(""), at: client).trailers == ["grpc-status": "0"])
        #expect(client.answers[watch]?.isOver == false)
        try client.send(.reset(watch))

        let api = try HTTP2Client(to: bearerd.address(of: .developmentAPI))
        let refused = try check("Check", Self.healthRequest(""), at: api)
        #expect(refused.status == 200 && refused.head["grpc-status"] == "16")
        #expect(try api.request("GET", "/whoami").status == 415)
        #expect(try bearerd.terminate() == .exited(0))
    }

    @Test func `demo is taken for no daemon of a file's`() throws {
        let directory = try TemporaryDirectory()
        let demo = try BearerdProcess(arguments: ["demo"], directory: directory.path)
        let file = try directory.write(
            "config.yaml",
            """
            admin: {listen: \(try demo.admin)}
            listen: 127.0.0.1:0
            identities: {default: {issuer: 'http://127.0.0.1:1', client_id: a, client_secret: b}}
            routes: [{path: /, upstream: 'http://127.0.0.1:2', identity: default}]
            store: {type: memory}
            """)
        for words in [["status"], ["wait", "--timeout", "0s"], ["refresh"], ["reload"], ["healthcheck"]] {
            let result = try Subprocess.run([BearerdProcess.binary] + words + ["-c", file])
            #expect(result.ending == .exited(69), "\(result)")
            #expect(result.errors.contains("'bearerd demo' or 'bearerd proxy', pid "), "\(result)")
        }
        let doctor = try BearerdProcess.command("doctor", "--check", "admin", "-c", file)
        #expect(doctor.exit == 69 && doctor.output.contains("'bearerd demo'"), "\(doctor)")
    }

    @Test func `demo needs nothing and prints what to try`() throws {
        let directory = try TemporaryDirectory()
        let demo = try BearerdProcess(arguments: ["demo"], directory: directory.path)
        try demo.process.output.wait(for: "the curl lines") { $0.text.contains("/whoami") ? () : nil }
        let text = demo.process.output.withLock { $0.text }
        let url = try #require(text.firstMatch(of: #/http://127\.0\.0\.1:(\d+)/whoami/#))
        #expect(text.contains("curl"))
        for line in text.split(separator: "\n") where line.hasPrefix("  curl") {
            #expect(
                line.split(separator: " ").last?.contains(":") == true || line.hasSuffix("hello"),
                "a remark: \(line)")
        }
        let proxy = Address.tcp(port: try #require(UInt16(url.output.1)))
        _ = try Self.checkWhoami(proxy)
        #expect(text.contains("--data-binary @- http://\(proxy)/grpc.health.v1.Health/Check"))
        let answer = try HTTP2Client(to: proxy).request(
            "POST", "/grpc.health.v1.Health/Check", Self.call, body: Self.healthRequest(""))
        #expect(answer.content == [0, 0, 0, 0, 2, 8, 1])
        #expect(try demo.terminate() == .exited(0))
        #expect(TemporaryDirectory.entries(of: directory.path).isEmpty)
    }
}
