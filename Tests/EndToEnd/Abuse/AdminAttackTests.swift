// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// The admin listener against those who want to fill it, guess at it, or use it in another's name.
@Suite(.blocking) struct `The admin listener under attack` {
    private static let header = ("X-Bearerd-Admin", "1")
    private static let session = "/api/identities/default/session"
    private static let imported = #"{"kind":"imported","refresh_token":"fake-refresh-token","scope":[]}"#

    private func person(_ settings: Sidecar.Settings = .init(), launcher: [String] = []) throws -> Sidecar {
        var settings = settings
        settings.grant = "refresh_token"
        return try Sidecar(launcher: launcher, settings)
    }

    @Test func `takes no body before the head is judged`() throws {
        let sidecar = try Sidecar()
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        let before = sidecar.bearerd.residentBytes
        let body = String(repeating: "a", count: (1 << 20) - 1)
        let clients = try (0..<200).map { _ in try RawClient(to: sidecar.bearerd.admin) }
        for client in clients {
            // Many are cut short: a listener that does not read is what is asked for.
            try? client.wire.send(
                "POST /api/identities/default/refresh HTTP/1.1\r\nHost: evil.test\r\n"
                    + "X-Bearerd-Admin: 1\r\nContent-Length: 1048576\r\n\r\n" + body)
        }
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        #expect(sidecar.bearerd.residentBytes - before < 24 << 20)
        #expect(try sidecar.get().status == 200)
        for host in ["evil.test", "\(try sidecar.bearerd.admin)"] {
            let client = try RawClient(to: sidecar.bearerd.admin)
            let answer = try client.exchange(
                "POST /nowhere HTTP/1.1\r\nHost: \(host)\r\nExpect: 100-continue\r\n"
                    + "Transfer-Encoding: chunked\r\n\r\n5\r\nhe", method: "POST")
            #expect(answer.status == (host == "evil.test" ? 421 : 404) && answer["Connection"] == "close")
        }
    }

    @Test(arguments: ["/nowhere", "/api/status", "/healthz", session])
    func `answers what needs no body without it`(
        path: String
    ) throws {
        let sidecar = try person()
        let client = try RawClient(to: sidecar.bearerd.admin)
        let host = try sidecar.bearerd.admin
        let head = "Host: \(host)\r\nContent-Length: 1000\r\n\r\n"
        let answer = try client.exchange("GET \(path) HTTP/1.1\r\n\(head)")
        #expect(answer.status == (path == "/nowhere" ? 404 : path == Self.session ? 405 : 200))
    }

    @Test func `bounds a body that it needs, however it is framed`() throws {
        let sidecar = try person()
        let large = String(repeating: " ", count: (64 << 10) + 1)
        let declared = try RawClient(to: sidecar.bearerd.admin).request(
            "POST", Self.session, [Self.header, ("Expect", "100-continue")], body: large)
        #expect(declared.status == 413 && declared.problem == "body_too_large")
        let chunked = try RawClient(to: sidecar.bearerd.admin)
        try chunked.send("POST", Self.session, [Self.header, ("Transfer-Encoding", "chunked")])
        try chunked.wire.send("10001\r\n" + large + "\r\n0\r\n\r\n")
        #expect(try chunked.wire.readResponse().status == 413)
        let fits = try RawClient(to: sidecar.bearerd.admin).request(
            "POST", Self.session, [Self.header], body: String(repeating: " ", count: 64 << 10))
        #expect(fits.status == 400)
    }

    @Test func `waits for a whole request no longer than timeouts.header`() throws {
        let sidecar = try person(.init(top: "timeouts:\n  header: 1s"))
        let client = try RawClient(to: sidecar.bearerd.admin)
        try client.send("POST", Self.session, [Self.header, ("Content-Length", "60000")])
        // A byte at a time never stops, so only the whole request's deadline ends it.
        let isAnswered = Monitor(false)
        let trickle = try concurrently(2) { turn -> Int in
            guard turn == 0 else {
                defer { isAnswered.withLock { $0 = true } }
                return try client.wire.readResponse().status
            }
            while !isAnswered.withLock({ $0 }) {
                try? client.wire.send(" ")
                try? Gate().pass(within: .milliseconds(50))
            }
            return 0
        }
        #expect(trickle.contains(408), "\(trickle)")
    }

    @Test func `answers probes, and the data port clients, with more idle connections than descriptors`()
        throws
    {
        let sidecar = try Sidecar(
            launcher: ["/usr/bin/prlimit", "--nofile=256:256"], .init(top: "workers: 2"))
        #expect(try sidecar.get().status == 200)
        let idle = try (0..<300).map { _ in try RawClient(to: sidecar.bearerd.admin) }
        let halfway = try (0..<100).map { _ in
            let client = try RawClient(to: sidecar.bearerd.admin)
            try? client.wire.send("GET /healthz HTTP/1.1\r\nHo")
            return client
        }
        for _ in 0..<20 {
            #expect(try sidecar.admin("GET", "/healthz").status == 200)
            #expect(try sidecar.get().status == 200)
        }
        #expect(sidecar.bearerd.descriptorCount < 150)
        let clients = try (0..<300).map { _ in try sidecar.client() }
        #expect(try sidecar.admin("GET", "/healthz").status == 200)
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
        withExtendedLifetime((idle, halfway, clients)) {}
    }

    @Test func `answers everybody in a burst`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        // All of them have sent their requests when the first is accepted.
        sidecar.bearerd.process.signal(SIGSTOP)
        let clients = try (0..<200).map { number in
            let client = try RawClient(to: sidecar.bearerd.admin)
            try client.send("GET", number % 2 == 0 ? "/healthz" : "/api/status")
            return client
        }
        sidecar.bearerd.process.signal(SIGCONT)
        let statuses = clients.map { (try? $0.wire.readResponse().status) ?? 0 }
        #expect(statuses.allSatisfy { $0 == 200 }, "\(statuses.count { $0 != 200 })")
        // Those who connect first and speak when they are all there lose no more than their connection.
        let late = try concurrently(100) { _ in
            for _ in 0..<20 {
                let client = try RawClient(to: sidecar.bearerd.admin)
                if let answer = try? client.request("GET", "/readyz") { return answer.status }
            }
            return 0
        }
        #expect(late.allSatisfy { $0 == 200 }, "\(late)")
    }

    @Test func `answers probes while as many actions wait as may`() throws {
        let gate = Gate()
        let provider = try HostileProvider()
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        provider.always { _, provider in provider.tokens().held(by: gate) }
        let waiting = try (0..<80).map { _ in
            let client = try RawClient(to: sidecar.bearerd.admin)
            try client.send("POST", "/api/identities/default/refresh", [Self.header], body: "")
            return client
        }
        for _ in 0..<10 { #expect(try sidecar.admin("GET", "/healthz").status == 200) }
        gate.open()
        let statuses = waiting.map { (try? $0.wire.readResponse().status) ?? 0 }
        #expect(statuses.contains(200) && statuses.allSatisfy { [200, 503, 0].contains($0) }, "\(statuses)")
    }

    @Test func `throttles guesses of the key`() throws {
        let sidecar = try Sidecar(.init(admin: "key: fake-admin-key-of-a-test"))
        let right = ("Authorization", "Bearer fake-admin-key-of-a-test")
        for guess in 0..<10 {
            #expect(try sidecar.admin("GET", "/api/status", [right]).status == 200)
            let wrong = ("Authorization", "Bearer \(guess)")
            #expect(try sidecar.admin("GET", "/api/status", [wrong]).status == 403)
        }
        let answer = try sidecar.admin("POST", "/api/reload", [Self.header, right])
        #expect(answer.status == 429 && answer["Retry-After"] != nil && answer.problem == "rate_limited")
        #expect(try sidecar.admin("GET", "/healthz", [right]).status == 200)
        #expect(try sidecar.admin("POST", "/api/reload", [Self.header]).status == 200)
        for fields in [[], [right], [("Authorization", "Bearer wrong")]] {
            let reading = try sidecar.admin("GET", "/api/status", fields)
            #expect(reading.status == 200, "a caller of this machine needs none")
        }
    }

    @Test func `goes on counting guesses of the key across a reload`() throws {
        let sidecar = try Sidecar(.init(admin: "key: fake-admin-key-of-a-test"))
        func guess() throws -> Int {
            try sidecar.admin("POST", "/api/quit", [Self.header, ("Authorization", "Bearer wrong")]).status
        }
        for _ in 0..<9 { #expect(try guess() == 403) }
        let reload = try sidecar.admin("POST", "/api/reload", [Self.header])
        #expect(reload.status == 200)
        #expect(try guess() == 403)
        #expect(try guess() == 429)
        let other = Sidecar.configuration(
            provider: sidecar.provider, upstream: sidecar.upstream.url, clientSecret: sidecar.clientSecret,
            directory: sidecar.directory, .init(admin: "key: fake-admin-key-of-a-new-kind"))
        try sidecar.directory.write("config.yaml", other)
        #expect(try sidecar.admin("POST", "/api/reload", [Self.header]).status == 200)
        #expect(try guess() == 429, "another key gives no new tries")
    }

    @Test(.needs(.root)) func `takes a session from its own user alone`() throws {
        let sidecar = try person(.init(admin: "key: fake-admin-key-of-a-test"))
        let host = try sidecar.bearerd.admin
        func request(_ fields: String) -> String {
            "POST \(Self.session) HTTP/1.1\r\nHost: \(host)\r\nX-Bearerd-Admin: 1\r\nConnection: close\r\n"
                + "\(fields)Content-Length: \(Self.imported.utf8.count)\r\n\r\n\(Self.imported)"
        }
        let refused = try Stranger.send(request(""), to: host)
        #expect(refused.hasPrefix("HTTP/1.1 403") && refused.contains("access_denied"), "\(refused)")
        #expect(try sidecar.identityStatus()["generation"].number ?? 0 == 0)
        let withKey = try Stranger.send(
            request("Authorization: Bearer fake-admin-key-of-a-test\r\n"), to: host)
        #expect(withKey.hasPrefix("HTTP/1.1 200"), "\(withKey)")
        let own = try RawClient(to: host).request("POST", Self.session, [Self.header], body: Self.imported)
        #expect(own.status == 200)
    }

    @Test func `takes a session from a caller of its own that has said all that it will`() throws {
        let sidecar = try person()
        let client = try RawClient(to: sidecar.bearerd.admin)
        // The end is there before the request is judged.
        sidecar.bearerd.process.signal(SIGSTOP)
        try client.send("POST", Self.session, [Self.header], body: Self.imported)
        client.wire.finishWriting()
        sidecar.bearerd.process.signal(SIGCONT)
        #expect(try client.wire.readResponse().status == 200)
    }

    @Test func `takes no session for a grant that needs no person`() throws {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        let answer = try RawClient(to: sidecar.bearerd.admin).request(
            "POST", Self.session, [Self.header], body: Self.imported)
        #expect(answer.status == 403 && answer.problem == "access_denied")
        let file = try sidecar.directory.write("token", "fake-refresh-token")
        let command = try BearerdProcess.command(
            "import", "--refresh-token", file, "-c", sidecar.directory.path("config.yaml"))
        #expect(command.exit == 77 && command.errors.contains("needs no person"), "\(command)")
        #expect(try sidecar.identityStatus()["generation"].number == 1)
    }
}
