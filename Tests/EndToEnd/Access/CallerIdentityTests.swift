// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// Whose token goes up on a Unix socket, by the user who calls.
@Suite(.blocking, .needs(.root))
struct `An identity for each user` {
    private static let (alice, bob, eve): (UInt32, UInt32, UInt32) = (61_001, 61_002, 61_003)

    private let directory: TemporaryDirectory
    private let upstream: RawUpstream
    private let sidecar: Sidecar
    private let secret = "secret-" + randomText()
    private var socket: String { directory.path("data.sock") }

    /// With a provider that gives each scope a token that it can be told by.
    init() throws {
        let provider = try HostileProvider()
        provider.always { request, provider in
            let scope = request["scope"] ?? "none"
            return .json(
                #"{"access_token":"\#(scope)-\#(provider.makeAccessToken())","token_type":"Bearer","expires_in":300}"#
            )
        }
        directory = try TemporaryDirectory()
        upstream = try RawUpstream()
        // So that others come to the socket.
        guard chmod(directory.path, 0o711) == 0 else { throw WireError("chmod: \(errno)") }
        sidecar = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: secret,
            Self.settings(
                provider, upstream, secret: secret, directory,
                users: "\(Self.alice): alice, \(Self.bob): bob, 0: none"))
    }

    private static func settings(
        _ provider: HostileProvider, _ upstream: RawUpstream, secret: String, _ directory: TemporaryDirectory,
        users: String
    ) -> Sidecar.Settings {
        let socket = directory.path("data.sock")
        let identities = ["alice", "bob"].map { name in
            """
            \(name):
              issuer: \(provider.issuer)
              client_id: legacy-app
              client_secret: \(secret)
              grant_type: client_credentials
              scope: \(name)
            """
        }
        return Sidecar.Settings(
            top: """
                access: {peer_uids: [0, \(alice), \(bob), \(eve)]}
                audit: {file: \(directory.path("audit.log"))}
                log: {access: true}
                workers: 1
                """,
            identity: "scope: default",
            moreRoutes: """
                - path: /mine
                  listen: unix:\(socket)
                  upstream: \(upstream.url)
                  identity: {uid: {\(users)}}
                  on_no_token: pass
                """,
            moreIdentities: identities.joined(separator: "\n"), listen: "[127.0.0.1:0, \"unix:\(socket)\"]")
    }

    /// The answer to another user's GET.
    private func get(_ target: String, as user: UInt32) throws -> String {
        try Stranger.send(
            "GET \(target) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", toSocket: socket,
            as: user)
    }

    @Test func `serves each with a token of its own, and others with 403`() throws {
        try eventually("the tokens") {
            Set(sidecar.provider.requests.compactMap { $0["scope"] }) == ["default", "alice", "bob"]
        }
        try eventually("all are ready") { try sidecar.admin("GET", "/readyz").status == 200 }
        for user in [Self.alice, Self.bob, Self.alice] {
            #expect(try get("/mine", as: user).hasPrefix("HTTP/1.1 200"))
        }
        #expect(try RawClient(to: .unix(path: socket)).request("GET", "/mine").status == 200)
        let tokens = upstream.tokens
        #expect(tokens.count == 4)
        #expect(tokens.map { $0.prefix { $0 != "-" } } == ["alice", "bob", "alice", ""])
        #expect(tokens[0] == tokens[2])

        let denied = try get("/mine/secret", as: Self.eve)
        #expect(denied.hasPrefix("HTTP/1.1 403") && denied.contains("access_denied"), "\(denied)")
        #expect(denied.contains("identity.uid"))
        #expect(upstream.requests.count == 4, "not even with on_no_token: pass")
        #expect(try get("/", as: Self.eve).hasPrefix("HTTP/1.1 200"), "the route beside it is for everybody")
        #expect(upstream.tokens.last?.hasPrefix("default-") == true)
        #expect(try sidecar.get("/mine").status == 200, "elsewhere it is not there")
        #expect(upstream.tokens.last?.hasPrefix("default-") == true)

        let metrics = try sidecar.metrics()
        #expect(metrics.sum("bearerd_denied_total", "reason=\"peer\"") == 1)
        #expect(metrics.sum("bearerd_requests_total", "route=\"/mine\"", "code=\"403\"") == 1)
        for name in ["default", "alice", "bob"] {
            #expect(metrics.sum("bearerd_identity_routes", "identity=\"\(name)\"") == 1, "\(name)")
        }
        let routes = try sidecar.admin("GET", "/api/status").json["routes"].array
        #expect(
            routes.map { "\($0["path"].string ?? "") \($0["identity"].string ?? "")" } == [
                "/ default", "/mine alice", "/mine bob", "/mine none",
            ])

        try eventually("the lines of the requests") { accessLines("/mine").count == 5 }
        let lines = accessLines("/mine")
        #expect(
            lines.filter { $0["status"] == "200" }.map { $0["identity"] } == ["alice", "bob", "alice", nil])
        #expect(lines.filter { $0["status"] == "403" }.map { $0["identity"] } == [nil])
        var audit: [TestJSON] = []
        try eventually("the lines of the audit") {
            audit = TemporaryDirectory.contents(of: directory.path("audit.log")).split(separator: 10)
                .compactMap { TestJSON(parsing: String(decoding: $0, as: UTF8.self)) }
                .filter { $0["route"].string == "/mine" }
            return audit.count == 3
        }
        #expect(audit.map { $0["identity"].string } == ["alice", "bob", "alice"])
        #expect(audit.map { $0["uid"].number } == [Self.alice, Self.bob, Self.alice].map { Double($0) })
    }

    /// The lines of requests for a route.
    private func accessLines(_ route: String) -> [BearerdProcess.LogLine] {
        sidecar.bearerd.logLines.filter { $0["route"] == route && $0["status"] != nil }
    }

    @Test func `is told by the connection, in HTTP 1.0 and for each of several requests sent at once`() throws
    {
        try eventually("all are ready") { try sidecar.admin("GET", "/readyz").status == 200 }
        let first = "GET /mine HTTP/1.1\r\nHost: localhost\r\n\r\n"
        let last = "GET /mine HTTP/1.0\r\n\r\n"
        for (user, status, requests) in [(Self.alice, "200", 3), (Self.eve, "403", 0), (Self.bob, "200", 3)] {
            let before = upstream.requests.count
            let answers = try Stranger.send(first + first + last, toSocket: socket, as: user)
            let statuses = answers.split(separator: "HTTP/1.").compactMap {
                $0.split(separator: " ").dropFirst().first
            }
            #expect(statuses == Array(repeating: Substring(status), count: 3), "\(answers)")
            #expect(upstream.requests.count == before + requests)
            let name = user == Self.alice ? "alice-" : "bob-"
            #expect(upstream.tokens.suffix(requests).allSatisfy { $0.hasPrefix(name) })
        }
    }

    @Test func `may be one that exchanges what that user brings`() throws {
        let provider = try HostileProvider()
        provider.always { request, provider in
            let subject = request["subject_token"].map { "\($0)-" } ?? ""
            return .json(
                #"{"access_token":"\#(subject)\#(provider.makeAccessToken())","token_type":"Bearer","#
                    + #""issued_token_type":"urn:ietf:params:oauth:token-type:access_token","expires_in":300}"#
            )
        }
        let directory = try TemporaryDirectory()
        guard chmod(directory.path, 0o711) == 0 else { throw WireError("chmod: \(errno)") }
        var settings = Self.settings(
            provider, upstream, secret: secret, directory, users: "\(Self.alice): alice, \(Self.bob): caller")
        settings.moreIdentities += """

            caller:
              issuer: \(provider.issuer)
              client_id: legacy-app
              client_secret: \(secret)
              grant_type: token_exchange
              subject_token: from_request
            """
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: secret, settings)
        try eventually("the tokens") { provider.requests.count == 3 }
        func get(as user: UInt32, _ token: String? = nil) throws -> String {
            let field = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
            return try Stranger.send(
                "GET /mine HTTP/1.1\r\nHost: localhost\r\n\(field)Connection: close\r\n\r\n",
                toSocket: directory.path("data.sock"), as: user)
        }
        #expect(try get(as: Self.bob, "bobs").hasPrefix("HTTP/1.1 200"))
        #expect(upstream.tokens.last?.hasPrefix("bobs-") == true)
        let before = upstream.requests.count
        #expect(try get(as: Self.bob).hasPrefix("HTTP/1.1 403"))
        #expect(try get(as: Self.eve, "eves").hasPrefix("HTTP/1.1 403"))
        #expect(upstream.requests.count == before, "nobody's token in place of a missing one")
        #expect(try get(as: Self.alice, "own").hasPrefix("HTTP/1.1 200"))
        #expect(upstream.tokens.last?.contains("own") == false, "alice has a token of the service's")
        #expect(sidecar.bearerd.process.isRunning)
    }

    @Test func `changes with a reload, and keeps the others' tokens and connections`() throws {
        #expect(try get("/mine", as: Self.alice).hasPrefix("HTTP/1.1 200"))
        let settings = Self.settings(
            sidecar.provider, upstream, secret: secret, directory,
            users: "\(Self.alice): alice, \(Self.eve): bob")
        try Sidecar.file(
            provider: sidecar.provider, upstream: upstream.url, clientSecret: secret, directory: directory,
            settings)
        #expect(try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")]).status == 200)
        #expect(try get("/mine", as: Self.bob).hasPrefix("HTTP/1.1 403"))
        #expect(try get("/mine", as: Self.eve).hasPrefix("HTTP/1.1 200"))
        #expect(try get("/mine", as: Self.alice).hasPrefix("HTTP/1.1 200"))
        let tokens = upstream.tokens
        #expect(
            tokens.map { $0.prefix { $0 != "-" } } == ["alice", "bob", "alice"] && tokens[0] == tokens[2])
        let asked = sidecar.provider.requests.compactMap { $0["scope"] }.filter { $0 != "default" }
        #expect(asked.sorted() == ["alice", "bob"], "no token is asked for again")
        #expect(upstream.connectionCount == 1, "all users of a route share its connections")
    }

    @Test func `is told by check, in its table and for one request`() throws {
        let file = directory.path("config.yaml")
        let table = try BearerdProcess.command("check", "-c", file)
        #expect(table.exit == 0, "\(table.errors)")
        for words in ["alice for uid \(Self.alice)", "bob for uid \(Self.bob)", "none for uid 0"] {
            #expect(table.output.contains(words), "\(table.output)")
        }
        let json = try #require(
            TestJSON(parsing: try BearerdProcess.command("check", "--json", "-c", file).output))
        #expect(
            json["routes"].array.map { $0["uid"].number }
                == [nil, Double(Self.alice), Double(Self.bob), 0])
        let only = try directory.write(
            "only.yaml",
            """
            listen: unix:\(directory.path("only.sock"))
            access: {peer_uids: [0, 1000]}
            identities: {alice: {issuer: "\(sidecar.provider.issuer)", client_id: a, client_secret: fake, grant_type: client_credentials}}
            routes:
              - {path: /, upstream: "\(upstream.url)", identity: {uid: {1000: alice, 0: none}}}
              - {path: /b, upstream: "\(upstream.url)", identity: alice, allow: []}
            """)
        let one = try BearerdProcess.command("check", "-c", only, "--explain", "GET", "/x")
        #expect(one.exit == 0 && one.output.contains("routes[0] /"), "\(one.output)\(one.errors)")
        #expect(
            one.output.contains(
                "identity alice for uid 1000, none for uid 0; 403 access_denied for any other"))
        let other = try BearerdProcess.command("check", "-c", only, "--explain", "GET", "/b")
        #expect(other.exit == 1 && other.output.contains("none of routes[1].allow"), "\(other.output)")
    }
}
