// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Where the provider is, and how it is reached.
@Suite(.blocking) struct `The way to the provider` {
    /// bearerd with an identity that is written by hand.
    private func sidecar(_ upstream: RawUpstream, _ identity: String) throws -> BearerdProcess {
        let directory = try TemporaryDirectory()
        return try BearerdProcess(
            configuration: """
                listen: 127.0.0.1:0
                identities:
                  default:
                    client_id: app
                    client_secret: s3cret
                    grant_type: client_credentials
                \(indented(identity, by: 4))
                routes:
                  - upstream: \(upstream.url)
                    identity: default
                store: {type: memory}
                """, in: directory)
    }

    private func status(_ process: BearerdProcess) throws -> Int {
        try RawClient(to: process.proxy).request("GET", "/", []).status
    }

    @Test func `connect_to leads elsewhere, with names, checks and issuer as the URLs say`() throws {
        let authority = try TLSAuthority()
        let upstream = try RawUpstream()
        let issuer = "https://sso.example.test/realms/demo"
        let provider = try HostileProvider(tls: authority.server(for: ["sso.example.test"]))
        let seen = Monitor<[RawRequest]>([])
        let server = try RawServer(tls: authority.server(for: ["sso.example.test"])) { wire in
            while let request = try wire.readRequest() {
                seen.withLock { $0.append(request) }
                let reply: Reply =
                    request.head.method == "GET"
                    ? .json(#"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#)
                    : provider.tokens()
                guard try reply.send(to: wire) else { return }
            }
        }
        let way = "issuer: \(issuer)\nconnect_to: \(server.address)\n"
        let process = try sidecar(upstream, way + "ca_file: \(authority.certificateFile)")
        #expect(try status(process) == 200)
        let requests = seen.withLock { $0 }
        #expect(
            requests.map(\.head.target) == [
                "/realms/demo/.well-known/openid-configuration", "/realms/demo/token",
            ])
        #expect(requests.allSatisfy { $0["Host"] == "sso.example.test" })

        let stranger = try TLSAuthority()
        let distrusting = try sidecar(upstream, way + "ca_file: \(stranger.certificateFile)")
        #expect(try status(distrusting) == 503)
        #expect(seen.withLock { $0.count } == 2)
    }

    @Test func `a proxy is asked for a tunnel and never sees a secret outside it`() throws {
        let upstream = try RawUpstream()
        let issuer = "http://sso.example.test"
        let heads = Monitor<[RawHead]>([])
        let proxy = try RawServer { wire in
            guard let connect = try wire.readHead() else { return }
            heads.withLock { $0.append(connect) }
            try wire.send("HTTP/1.1 200 OK\r\n\r\n")
            while let request = try wire.readRequest() {
                heads.withLock { $0.append(request.head) }
                let reply: Reply =
                    request.head.method == "GET"
                    ? .json(#"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#)
                    : .json(#"{"access_token":"at","token_type":"Bearer","expires_in":300}"#)
                guard try reply.send(to: wire) else { return }
            }
        }
        let process = try sidecar(
            upstream,
            "issuer: \(issuer)\nallow_insecure_provider: true\nproxy: http://user:word@\(proxy.address)")
        #expect(try status(process) == 200)
        let seen = heads.withLock { $0 }
        #expect(
            Set(seen.map(\.startLine)).isSuperset(of: [
                "CONNECT sso.example.test:80 HTTP/1.1", "POST /token HTTP/1.1",
            ]))
        for head in seen where head.method == "CONNECT" {
            #expect(head["Authorization"] == nil)
            #expect(head["Proxy-Authorization"] == "Basic dXNlcjp3b3Jk")
        }
        for head in seen where head.method != "CONNECT" { #expect(head["Proxy-Authorization"] == nil) }
    }

    @Test func `a proxy or a connect_to that fails is told, and not the provider`() throws {
        let upstream = try RawUpstream()
        let nobody = try Socket.refusing()
        let stranger = try TLSAuthority()
        let secure = try RawServer(tls: stranger.server()) { _ in }
        let refusing = try RawServer { wire in
            _ = try wire.readHead()
            try wire.send("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
        }
        let cases = [
            ("proxy: http://\(nobody.address)", "the proxy \(nobody.address): connection refused"),
            ("proxy: http://\(refusing.address)", "the proxy \(refusing.address): it does not allow"),
            (
                "proxy: https://localhost:\(secure.address.port)",
                "no trusted authority has signed it; a proxy is verified against the system's CAs, never against ca_file"
            ), ("connect_to: \(nobody.address)", "connect_to \(nobody.address): connection refused"),
        ]
        for (key, words) in cases {
            let process = try sidecar(upstream, "issuer: https://sso.example.test\n\(key)")
            #expect(try status(process) == 503)
            try eventually("\(words)") { process.log.contains(words) }
        }
    }

    @Test func `discovery_url alone counts where it is given, and endpoints by hand before any document`()
        throws
    {
        let upstream = try RawUpstream()
        let paths = Monitor<[String]>([])
        let server = try RawServer { wire in
            while let request = try wire.readRequest() {
                paths.withLock { $0.append(request.head.target) }
                let reply: Reply =
                    switch request.head.target {
                    case "/doc":
                        .json(
                            #"{"issuer":"https://sso.example.test","token_endpoint":"http://127.0.0.1:1/"}"#)
                    case "/by-hand": .json(#"{"access_token":"at"}"#)
                    default: .response(404)
                    }
                guard try reply.send(to: wire) else { return }
            }
        }
        let process = try sidecar(
            upstream,
            """
            issuer: https://sso.example.test
            discovery_url: http://\(server.address)/doc
            token_endpoint: http://\(server.address)/by-hand
            """)
        #expect(try status(process) == 200)
        #expect(paths.withLock { $0 } == ["/by-hand"])

        let other = try sidecar(
            upstream, "issuer: https://other.example.test\ndiscovery_url: http://\(server.address)/doc")
        #expect(try status(other) == 503)
        #expect(paths.withLock { $0.contains { $0.contains("well-known") } } == false)
        try eventually("a word on the issuer") { other.log.contains("issuer_mismatch") }
    }

    @Test func `a token endpoint that moved is found, and a document that vanished is remembered`() throws {
        let provider = try HostileProvider()
        let sidecar = try Sidecar(provider: provider)
        try sidecar.awaitToken()
        let before = provider.requests.count
        provider.discovery { _, _ in .response(500) }
        provider.script({ _, _ in .oauthError("invalid_scope") })
        try sidecar.act("refresh")
        try sidecar.act("refresh")
        #expect(provider.requests.count == before + 2)
        #expect(provider.discoveryRequestCount > 1)
        #expect(try sidecar.get().status == 200)
    }
}
