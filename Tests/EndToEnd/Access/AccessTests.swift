// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Who may use the data listener.
@Suite(.blocking) struct `Access` {
    @Test func `is by the loopback names with the port, anything else is 421`() throws {
        let sidecar = try Sidecar()
        let port = try sidecar.bearerd.proxy.port
        for host in ["127.0.0.1:\(port)", "localhost:\(port)", "LOCALHOST:\(port)", "[::1]:\(port)"] {
            #expect(try sidecar.get("/", [("Host", host)]).status == 200, "\(host)")
        }
        for host in [
            "evil.test", "evil.test:\(port)", "localhost.evil.test:\(port)", "127.0.0.1:1",
            "127.0.0.2:\(port)",
        ] {
            let answer = try sidecar.get("/", [("Host", host)])
            `bearerd's own answers`.check(answer, 421, "wrong_host")
        }
        #expect(sidecar.upstream.requests.count == 4)
    }

    @Test func `is by each listener's own names, a Unix socket's by any port`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        let sidecar = try Sidecar(
            directory: directory,
            .init(top: "workers: 1", listen: "['unix:\(path)', 127.0.0.1:0, 127.0.0.1:0]"))
        let ports = try (1...2).map { try sidecar.bearerd.address(of: .proxy, $0).port }
        func status(_ address: Address, _ host: String) throws -> Int {
            try RawClient(to: address).request("GET", "/", [("Host", host)]).status
        }
        for (own, other) in [(ports[0], ports[1]), (ports[1], ports[0])] {
            #expect(try status(.tcp(port: own), "localhost:\(own)") == 200)
            for host in ["localhost:\(other)", "localhost", "127.0.0.1:1"] {
                #expect(try status(.tcp(port: own), host) == 421, "\(host)")
            }
        }
        for host in ["localhost", "localhost:99", "127.0.0.1", "[::1]:\(ports[0])"] {
            #expect(try status(.unix(path: path), host) == 200, "\(host)")
        }
        #expect(try status(.unix(path: path), "evil.test") == 421)
        // The next connection may take over what the last one had.
        let host = "localhost:\(ports[0])"
        for _ in 0..<3 {
            #expect(try status(.tcp(port: ports[0]), host) == 200)
            #expect(try status(.tcp(port: ports[1]), host) == 421)
        }
    }

    @Test func `is by access hosts where they are given`() throws {
        let sidecar = try Sidecar(.init(top: "access:\n  hosts: [api.local, 'other.local:81']"))
        for (host, status) in [
            ("api.local", 200), ("API.local:5", 200), ("other.local:81", 200), ("other.local", 421),
            ("other.local:82", 421), ("x.api.local", 421),
        ] {
            #expect(try sidecar.get("/", [("Host", host)]).status == status, "\(host)")
        }
    }

    @Test func `needs the key where there is one, and the key goes no further`() throws {
        let key = "key-" + randomText()
        let sidecar = try Sidecar(.init(top: "access:\n  key: \(key)"))
        for fields in [
            [], [("X-Bearerd-Key", "wrong")], [("X-Bearerd-Key", "")], [("X-Bearerd-Key", key + "x")],
        ] {
            `bearerd's own answers`.check(try sidecar.get("/", fields), 403, "access_denied")
        }
        #expect(try sidecar.get("/", [("x-bearerd-key", key)]).status == 200)
        let seen = try sidecar.upstream.request()
        #expect(seen["X-Bearerd-Key"] == nil && sidecar.upstream.requests.count == 1)
        #expect(LeakScan.leaks(of: [key], in: sidecar.bearerd.log + seen.head.description).isEmpty)
    }

    @Test func `is by the key that is in its file now`() throws {
        let directory = try TemporaryDirectory()
        let (old, new) = ("key-" + randomText(), "key-" + randomText())
        let file = try directory.write("key", old + "\n")
        let sidecar = try Sidecar(
            directory: directory,
            .init(top: "access:\n  key_file: \(file)", admin: "key_file: \(file)"))
        func status(_ key: String) throws -> [Int] {
            try [
                sidecar.get("/", [("X-Bearerd-Key", key)]).status,
                sidecar.admin("GET", "/api/status", [("Authorization", "Bearer \(key)")]).status,
            ]
        }
        #expect(try status(old) == [200, 200] && status(new) == [403, 403])
        try directory.write("key", new)
        // Not by asking: who guesses too often is not listened to.
        try eventually("both listeners to have it") {
            sidecar.bearerd.logLines.count { $0.message == "key changed" } == 2
        }
        #expect(try status(new) == [200, 200])
        #expect(try status(old) == [403, 403])
        try directory.write("key", "open-to-all", mode: 0o666)
        try eventually("the refusals") {
            sidecar.bearerd.logLines.count {
                $0.message == "a changed key cannot be used; the one before stays"
            } == 2
        }
        #expect(try status(new) == [200, 200] && status("open-to-all") == [403, 403])
        // What start and `check` refuse no running daemon takes either.
        for (count, unusable) in ["\(old)\n\n", " \(old)", "\(old)\u{1}"].enumerated() {
            try directory.write("key", unusable, mode: 0o600)
            try eventually("both listeners to refuse it") {
                sidecar.bearerd.logLines.count {
                    $0.message == "a changed key cannot be used; the one before stays"
                } == 4 + 2 * count
            }
        }
        #expect(try status(new) == [200, 200])
    }

    @Test func `ends with its key for those who follow the status, too`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("key", "fake-key-one")
        let sidecar = try Sidecar(directory: directory, .init(admin: "key_file: \(file)"))
        let follower = try RawClient(to: sidecar.bearerd.admin)
        try follower.send("GET", "/api/events?page", [("Authorization", "Bearer fake-key-one")])
        #expect(try follower.wire.readHead()?.status == 200)
        try directory.write("key", "fake-key-two")
        var last = ""
        while let chunk = try follower.wire.readChunk() { last = String(decoding: chunk, as: UTF8.self) }
        #expect(last.hasPrefix("event: stale"))
    }

    @Test func `is by any of several keys, so that one is replaced without a gap`() throws {
        let directory = try TemporaryDirectory()
        let (old, new, third) = ("key-" + randomText(), "key-" + randomText(), "key-" + randomText())
        let files = [try directory.write("one", old + "\n"), try directory.write("two", new)]
        func settings(_ access: String) -> Sidecar.Settings { .init(top: "access: {\(access)}") }
        let sidecar = try Sidecar(directory: directory, settings("key_file: \(files[0])"))
        func statuses() throws -> [Int] {
            try [old, new, third].map { try sidecar.get("/", [("X-Bearerd-Key", $0)]).status }
        }
        func reload(_ access: String) throws {
            try Sidecar.file(
                provider: sidecar.provider, upstream: sidecar.upstream.url,
                clientSecret: sidecar.clientSecret,
                directory: directory, settings(access))
            let answer = try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
            #expect(answer.status == 200, "\(answer.text)")
        }
        #expect(try statuses() == [200, 403, 403])
        try reload("key_file: \(files[0]), keys: [{key_file: \(files[1])}, {key: \(third)}]")
        #expect(try statuses() == [200, 200, 200])
        #expect(try sidecar.get("/", [("X-Bearerd-Key", old), ("X-Bearerd-Key", new)]).status == 403)
        try directory.write("two", "key-" + randomText())
        try sidecar.bearerd.logLine("the change") { $0.message == "key changed" && $0["file"] == files[1] }
        #expect(try statuses() == [200, 403, 200])
        #expect(sidecar.bearerd.logLines.count { $0.message == "key changed" } == 1)
        try reload("keys: [{key: \(third)}]")
        #expect(try statuses() == [403, 403, 200])
        let seen = sidecar.upstream.requests.map(\.head.description).joined()
        #expect(LeakScan.leaks(of: [old, new, third], in: sidecar.bearerd.log + seen).isEmpty)
    }

    @Test func `to a provider that is not verified is called out wherever it can be seen`() throws {
        let sidecar = try Sidecar(.init(identity: "insecure_skip_verify: true"))
        let check = try BearerdProcess.command("check", "-c", sidecar.directory.path("config.yaml"))
        let page = try sidecar.admin("GET", "/").text
        let status = try sidecar.admin("GET", "/api/status").json["warnings"].array.map { $0.string ?? "" }
        #expect(check.output.contains("warning: insecure_skip_verify"))
        #expect(page.contains("insecure_skip_verify") && status.joined().contains("insecure_skip_verify"))
        try sidecar.bearerd.logLine("the warning") { line in
            line["level"] == "warning" && line["reason"]?.contains("insecure_skip_verify") == true
        }
        let quiet = try Sidecar()
        #expect(try quiet.admin("GET", "/api/status").json["warnings"] == .null)
        #expect(!quiet.bearerd.log.contains("insecure_skip_verify"))
        try quiet.reload(to: .init(identity: "insecure_skip_verify: true"))
        try quiet.bearerd.logLine("the warning of a reload") { line in
            line["level"] == "warning" && line["reason"]?.contains("insecure_skip_verify") == true
        }
    }

    @Test func `is not for web pages of other origins`() throws {
        let sidecar = try Sidecar(.init(top: "access:\n  origins: ['https://app.test']"))
        let own = "http://\(try sidecar.bearerd.proxy)"
        let refused = [
            [("Origin", "https://evil.test")], [("Origin", "null")], [("Sec-Fetch-Site", "cross-site")],
            [("Sec-Fetch-Site", "same-site")], [("Origin", "https://app.test:444")],
            [("Origin", "https://app.test"), ("Origin", "https://evil.test")],
            [("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "cross-site")],
        ]
        for fields in refused {
            `bearerd's own answers`.check(try sidecar.get("/", fields), 403, "access_denied")
        }
        let allowed = [
            [("Origin", "https://app.test"), ("Sec-Fetch-Site", "cross-site")], [("Origin", own)],
            [("Sec-Fetch-Site", "same-origin")], [("Sec-Fetch-Site", "none")],
        ]
        for fields in allowed { #expect(try sidecar.get("/", fields).status == 200, "\(fields)") }
        #expect(sidecar.upstream.requests.count == allowed.count)
    }

    @Test func `for a listed origin gets CORS fields, and preflights an answer of bearerd's own`() throws {
        let sidecar = try Sidecar(
            .init(top: "access:\n  origins: ['https://app.test']\n  key: k-\(randomText())"))
        let preflight = try sidecar.client().request(
            "OPTIONS", "/",
            [
                ("Origin", "https://app.test"), ("Access-Control-Request-Method", "PUT"),
                ("Access-Control-Request-Headers", "x-bearerd-key, x-a"),
            ])
        #expect((200..<300).contains(preflight.status))
        #expect(preflight["Access-Control-Allow-Origin"] == "https://app.test")
        #expect(preflight["Access-Control-Allow-Methods"]?.contains("PUT") == true)
        #expect(preflight["Access-Control-Allow-Headers"]?.lowercased().contains("x-bearerd-key") == true)
        #expect(sidecar.upstream.requests.isEmpty)
        let stranger = try sidecar.client().request(
            "OPTIONS", "/", [("Origin", "https://evil.test"), ("Access-Control-Request-Method", "GET")])
        #expect(stranger.status == 403 && stranger["Access-Control-Allow-Origin"] == nil)
        // A cache must not give a page what somebody without an origin got.
        #expect(try sidecar.get().head.values("Vary") == ["Origin"])
    }

    @Test func `to a Unix socket is by the peer's user`() throws {
        for (uids, status) in [("[\(getuid())]", 200), ("[65533]", 403)] {
            let directory = try TemporaryDirectory()
            let path = directory.path("bearerd.sock")
            let sidecar = try Sidecar(
                directory: directory, .init(top: "access:\n  peer_uids: \(uids)", listen: "unix:\(path)"))
            let answer = try RawClient(to: .unix(path: path)).request("GET", "/")
            #expect(answer.status == status)
            #expect(sidecar.upstream.requests.count == (status == 200 ? 1 : 0))
        }
    }

    @Test func `to a Unix socket is refused in the protocol of who asks, and logged`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        let sidecar = try Sidecar(
            directory: directory, .init(top: "access: {peer_uids: [65533]}", listen: "unix:\(path)"))
        let client = try HTTP2Client(to: .unix(path: path))
        let answer = try client.request("GET", "/")
        #expect(answer.status == 403)
        try client.awaitEnd()
        let caller = try HTTP2Client(to: .unix(path: path))
        let call = try caller.begin(
            "POST", "/a", [("content-type", "application/grpc"), ("te", "trailers")])
        #expect(try caller.head(on: call)["grpc-status"] == "7")
        try caller.awaitEnd()
        try sidecar.bearerd.logLine("the refusal") { $0["path"] == "/" && $0["code"] == "access_denied" }
        try sidecar.bearerd.logLine("the call's") { $0["path"] == "/a" && $0["code"] == "access_denied" }
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test func `to a Unix socket that is refused takes few of the places`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        let sidecar = try Sidecar(
            directory: directory,
            .init(top: "workers: 1\naccess: {peer_uids: [65533]}", listen: "unix:\(path)"))
        let clients = try (0..<20).map { _ in
            let client = try RawClient(to: .unix(path: path))
            try client.wire.send("GET / HTTP/1.1\r\n")
            return client
        }
        for client in clients[16...] { #expect(try client.wire.readToEnd() == []) }
        for client in clients[..<16] {
            try client.wire.send("Host: localhost\r\n\r\n")
            #expect(try client.wire.readResponse().status == 403)
            #expect(try client.wire.endsCleanly())
            client.wire.close()
        }
        // Their places come back, and one that says nothing keeps none.
        try eventually("a place to be free") {
            (try? RawClient(to: .unix(path: path)).request("GET", "/"))?.status == 403
        }
        #expect(try RawClient(to: .unix(path: path)).wire.endsCleanly())
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test func `to a Unix socket that is refused ends soon, whatever its client does`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        let sidecar = try Sidecar(
            directory: directory,
            .init(
                top: """
                    workers: 1
                    access: {peer_uids: [65533]}
                    timeouts: {header: 0s, stream_idle: 0s}
                    """, listen: "unix:\(path)"))
        let slow = try RawClient(to: .unix(path: path))
        try slow.wire.send("G")
        // Settings that leave the answer's content no window, with the client's end of the connection or without.
        let clients = try (0..<2).map { _ in try HTTP2Client(to: .unix(path: path), settings: [(4, 0)]) }
        for client in clients {
            #expect(try client.head(on: try client.begin("GET", "/"))[":status"] == "403")
        }
        clients[1].wire.finishWriting()
        for client in clients { try client.awaitEnd() }
        #expect(try slow.wire.readToEnd() == [])
        #expect(sidecar.upstream.requests.isEmpty)
    }

    @Test func `to a Unix socket counts as any other once a reload lets the user in`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        func settings(_ user: UInt32) -> Sidecar.Settings {
            .init(top: "workers: 1\naccess: {peer_uids: [\(user)]}", listen: "unix:\(path)")
        }
        let sidecar = try Sidecar(directory: directory, settings(65533))
        func begin() throws -> RawClient {
            let client = try RawClient(to: .unix(path: path))
            try client.wire.send("GET / HTTP/1.1\r\n")
            return client
        }
        let clients = try (0..<16).map { _ in try begin() }
        #expect(try begin().wire.readToEnd() == [])
        try sidecar.reload(to: settings(getuid()))
        for client in clients {
            try client.wire.send("Host: localhost\r\n\r\n")
            #expect(try client.wire.readResponse().status == 200)
        }
        try sidecar.reload(to: settings(65533))
        let refused = try HTTP2Client(to: .unix(path: path), settings: [(4, 0)])
        #expect(try refused.head(on: try refused.begin("GET", "/"))[":status"] == "403")
        try refused.awaitEnd()
        // Those that were there before it outlive it.
        for client in clients { #expect(try client.request("GET", "/").status == 403) }
    }

    @Test func `to a Unix socket is not decided by the umask`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path("bearerd.sock")
        let sidecar = try Sidecar(directory: directory, .init(listen: "unix:\(path)"))
        #expect(TemporaryDirectory.mode(of: path) == 0o666)
        #expect(sidecar.bearerd.process.isRunning)
    }

    @Test func `to the admin listener is by access hosts too`() throws {
        let sidecar = try Sidecar(.init(top: "access:\n  hosts: [api.local]"))
        for (host, status) in [
            ("api.local:1", 200), ("\(try sidecar.bearerd.admin)", 200), ("evil.test", 421),
        ] {
            #expect(try sidecar.admin("GET", "/api/status", [("Host", host)]).status == status, "\(host)")
        }
    }

    @Test(arguments: [1, 4])
    func `beyond limits connections waits in the accept queue`(workers: Int) throws {
        let sidecar = try Sidecar(.init(top: "limits:\n  connections: 2\nworkers: \(workers)"))
        let held = try (0..<2).map { _ in try sidecar.client() }
        for client in held { #expect(try client.request("GET", "/").status == 200) }
        let waiting = try sidecar.client()
        try waiting.send("GET", "/")
        #expect(try !waiting.wire.hasSomething(within: .milliseconds(300)))
        held[0].wire.close()
        #expect(try waiting.wire.readResponse().status == 200)
    }
}
