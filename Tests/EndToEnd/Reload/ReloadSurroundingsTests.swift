// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import CBearerdTrace
import Glibc
import Testing

/// What a reload makes of files, listeners and threads around the requests.
@Suite(.blocking) struct `What surrounds a reload` {
    private func reload(_ sidecar: Sidecar, to settings: Sidecar.Settings) throws -> RawResponse {
        try Sidecar.file(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: sidecar.directory, settings)
        return try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
    }

    /// As a volume of a ConfigMap does it.
    @Test func `is a limit for an upstream, whose connections count on whatever it is then`() throws {
        let gate = Gate()
        defer { gate.open() }
        func settings(_ limits: String) -> Sidecar.Settings {
            .init(top: "timeouts: {connect: 200ms}\nlimits: {\(limits)}")
        }
        let sidecar = try Sidecar(
            upstream: RawUpstream { $0.head.target == "/held" ? .ok().held(by: gate) : .ok() },
            settings("upstream_connections: 1"))
        let client = try sidecar.client()
        try client.send("GET", "/held")
        try sidecar.upstream.request()
        for (limits, isRoom) in [
            ("upstream_connections: 1, header_bytes: 32KiB", false), ("upstream_connections: 2", true),
            ("upstream_connections: 1", false),
        ] {
            try sidecar.reload(to: settings(limits))
            #expect(try sidecar.get("/").problem == (isRoom ? nil : "upstream_busy"), "\(limits)")
        }
        gate.open()
        #expect(try client.wire.readResponse().status == 200)
        #expect(try sidecar.get("/").status == 200)
    }

    @Test func `is a limit for an upstream that is raised for those who wait, too`() throws {
        let gate = Gate()
        defer { gate.open() }
        func settings(_ maximum: Int) -> Sidecar.Settings {
            .init(top: "workers: 1\ntimeouts: {connect: 600s}\nlimits: {upstream_connections: \(maximum)}")
        }
        let sidecar = try Sidecar(
            upstream: RawUpstream { $0.head.target == "/held" ? .ok().held(by: gate) : .ok() }, settings(1))
        let (held, waiting) = (try sidecar.client(), try sidecar.client())
        try held.send("GET", "/held")
        try sidecar.upstream.request()
        try waiting.send("GET", "/")
        // The one worker answers this itself, after it has seen the others.
        #expect(try sidecar.client().request("TRACE", "/").status == 405)
        try sidecar.reload(to: settings(2))
        #expect(try waiting.wire.readResponse().status == 200)
        gate.open()
        #expect(try held.wire.readResponse().status == 200)
    }

    @Test func `is a link to a directory that another one takes the place of`() throws {
        let directory = try TemporaryDirectory()
        let provider = try HostileProvider()
        let (first, second) = (try RawUpstream { _ in .ok("one") }, try RawUpstream { _ in .ok("two") })
        let volume = directory.path("volume")
        mkdir(volume, 0o755)
        for (name, upstream) in [("..1", first), ("..2", second)] {
            mkdir("\(volume)/\(name)", 0o755)
            try directory.write(
                "volume/\(name)/config.yaml",
                Sidecar.configuration(
                    provider: provider, upstream: upstream.url, clientSecret: "fake", directory: directory,
                    .init(top: "reload: watch")))
        }
        symlink("..1", "\(volume)/..data")
        symlink("..data/config.yaml", "\(volume)/config.yaml")
        let bearerd = try BearerdProcess(arguments: ["run", "-c", "\(volume)/config.yaml"])
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/").text == "one")
        symlink("..2", "\(volume)/..data_tmp")
        rename("\(volume)/..data_tmp", "\(volume)/..data")
        try eventually("the other upstream") {
            try RawClient(to: bearerd.proxy).request("GET", "/").text == "two"
        }
    }

    @Test func `is Unix sockets that come and go`() throws {
        let directory = try TemporaryDirectory()
        let (one, other) = (directory.path("one"), directory.path("other"))
        let sidecar = try Sidecar(directory: directory, .init(listen: "unix:\(one)"))
        let client = try sidecar.client()
        #expect(try client.request("GET", "/").status == 200)
        #expect(try reload(sidecar, to: .init(listen: "[\"unix:\(one)\", \"unix:\(other)\"]")).status == 200)
        #expect(try RawClient(to: .unix(path: other)).request("GET", "/").status == 200)
        #expect(try client.request("GET", "/").status == 200)
        #expect(try reload(sidecar, to: .init(listen: "unix:\(other)")).status == 200)
        #expect(access(one, F_OK) != 0)
        #expect(try client.request("GET", "/")["Connection"] == "close")
        #expect(try RawClient(to: .unix(path: other)).request("GET", "/").status == 200)
    }

    @Test func `is a certificate that comes and goes, and ends the connections that do without`() throws {
        let authority = try TLSAuthority()
        let files = try authority.certificate()
        let sidecar = try Sidecar()
        let plain = try sidecar.client()
        #expect(try plain.request("GET", "/").status == 200)
        let tls = "tls: {certificate_file: server.pem, key_file: server.key}"
        for (name, file) in [("server.key", files.keyFile), ("server.pem", files.certificateFile)] {
            try sidecar.directory.write(name, bytes: TemporaryDirectory.contents(of: file))
        }
        #expect(try reload(sidecar, to: .init(top: tls)).status == 200)
        let secure = try TLSClient(trusting: authority.certificateFile)
        #expect(
            try RawClient(to: sidecar.bearerd.proxy, over: secure).request("GET", "/").status == 200)
        #expect(try sidecar.get().status == 400)
        #expect(try plain.request("GET", "/").status == 400)
        #expect(try reload(sidecar, to: .init()).status == 200)
        #expect(try sidecar.get().status == 200)
    }

    @Test func `is a file that the sandbox hides`() throws {
        let elsewhere = try TemporaryDirectory()
        let secret = try elsewhere.write("secret", "fake-secret\n")
        chmod(secret, 0o600)
        let sidecar = try Sidecar()
        let answer = try reload(
            sidecar, to: .init(identity: "client_secret_file: \(secret)", hasSecret: false))
        guard sidecar.bearerd.logLines.contains(where: { $0.message == "sandboxed" }) else {
            #expect(answer.status == 200)
            return
        }
        #expect(answer.status == 422 && answer.json["code"].string == "restart_needed", "\(answer.text)")
        #expect(answer.json["keys"].array.map(\.string) == ["identities.default.client_secret_file"])
        #expect(try sidecar.get().status == 200)
    }

    @Test func `is the configuration where the sandbox hides what came in its place`() throws {
        let provider = try HostileProvider()
        let (directory, store) = (try TemporaryDirectory(), try TemporaryDirectory())
        let place = directory.path("etc")
        // A directory that its parent has beside nothing else may be made anew.
        try directory.write("other", "")
        let text = Sidecar.configuration(
            provider: provider, upstream: "http://127.0.0.1:1", clientSecret: "fake", directory: store)
        func install() throws -> String {
            #expect(mkdir(place, 0o700) == 0)
            return try directory.write("etc/config.yaml", text)
        }
        let daemon = try BearerdProcess(arguments: ["run", "-c", try install()])
        #expect(rename(place, directory.path("old")) == 0)
        _ = try install()
        let answer = try RawClient(to: daemon.admin).request(
            "POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        guard daemon.logLines.contains(where: { $0.message == "sandboxed" }) else {
            #expect(answer.status == 200)
            return
        }
        #expect(answer.status == 422 && answer.json["code"].string == "restart_needed", "\(answer.text)")
        #expect(
            answer.text.contains("restart bearerd") && !answer.text.contains("Permission"), "\(answer.text)")
    }

    @Test func `is a certificate authority that the sandbox hides`() throws {
        let authority = try TLSAuthority()
        let sidecar = try Sidecar()
        let route =
            "- {path: /b, upstream: 'https://localhost:1', identity: none, ca_file: '\(authority.certificateFile)'}"
        let answer = try reload(sidecar, to: .init(moreRoutes: route))
        guard sidecar.bearerd.logLines.contains(where: { $0.message == "sandboxed" }) else {
            #expect(answer.status == 200)
            return
        }
        #expect(answer.status == 422 && answer.json["code"].string == "restart_needed", "\(answer.text)")
        #expect(answer.json["keys"].array.map(\.string) == ["routes[1].ca_file"], "\(answer.text)")
    }

    @Test func `is a tunnel of a route that is gone`() throws {
        let upstream = try RawUpstream { _ in
            Reply { wire in
                try wire.grantWebSocket()
                return try wire.endsCleanly()
            }
        }
        let top = "shutdown: {stream_close_delay: 50ms}"
        let sidecar = try Sidecar(
            .init(top: top, moreRoutes: "- {path: /b, upstream: \"\(upstream.url)\", identity: default}"))
        let client = try sidecar.client()
        try client.send("GET", "/b", [("Connection", "Upgrade"), ("Upgrade", "websocket")])
        #expect(try client.wire.readHead()?.status == 101)
        #expect(try reload(sidecar, to: .init(top: top)).status == 200)
        _ = try? client.wire.readToEnd()
        try sidecar.bearerd.logLine("the tunnel's end") { $0["code"] == "route_gone" }
    }

    @Test func `is hooks, whose threads go with them`() throws {
        let sidecar = try Sidecar(.init(top: "on_state_change: [/bin/true]"))
        try sidecar.awaitToken()
        let hooks = { sidecar.threads.count { $0.name.hasPrefix("hook-") } }
        try eventually("a thread of a hook") { hooks() > 0 }
        #expect(try reload(sidecar, to: .init(top: "on_state_change: [/bin/true, again]")).status == 200)
        try eventually("its end") { hooks() == 0 }
    }

    @Test func `is a signal that comes before anything is there`() throws {
        let directory = try TemporaryDirectory()
        let provider = try HostileProvider()
        let file = try Sidecar.file(provider: provider, directory: directory)
        let process = try Subprocess([BearerdProcess.binary, "run", "-c", file])
        // The first line, long before there is a loop.
        _ = try process.errors.wait(for: "a line") { $0.text.contains("sandbox") ? true : nil }
        for _ in 0..<200 { process.signal(SIGHUP) }
        _ = try process.errors.wait(for: "it to be ready") { $0.text.contains("\"ready\"") ? true : nil }
        process.signal(SIGTERM)
        #expect(try process.waitForEnd() == .exited(0))
    }

    @Test(.needs(.root))
    func `is a worker that stands still, which holds up neither another reload nor the end`() throws {
        let top = "workers: 2\nshutdown: {grace: 500ms}"
        let sidecar = try Sidecar(.init(top: top))
        try sidecar.awaitToken()
        let thread = try #require(sidecar.thread(named: "worker-1"))
        #expect(trace_freeze(thread) == 0)
        for _ in 0..<2 {
            #expect(try reload(sidecar, to: .init(top: top, route: "via: false")).status == 200)
        }
        try sidecar.bearerd.logLine("that it does not turn") {
            $0.message.hasPrefix("a worker does not turn")
        }
        #expect(trace_thaw(thread) == 0)
        try eventually("both to have it") {
            let client = try sidecar.client()
            _ = try client.request("GET", "/")
            return sidecar.upstream.requests.suffix(8).count { $0["via"] == nil } == 8
        }
        #expect(trace_freeze(thread) == 0)
        sidecar.bearerd.process.signal(SIGTERM)
        try eventually("the end of all but the thread that is held") {
            let path = "/proc/\(sidecar.bearerd.process.processID)/stat"
            return String(decoding: TemporaryDirectory.contents(of: path), as: UTF8.self).contains(") Z ")
        }
        #expect(trace_thaw(thread) == 0)
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(1))
    }
}
