// SPDX-License-Identifier: Apache-2.0

import Glibc
import TestSupport
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
