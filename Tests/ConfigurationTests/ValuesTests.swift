// SPDX-License-Identifier: Apache-2.0

import Configuration
import HTTPTypes
import OAuth
import Observability
import Testing

@Suite struct ValuesTests {
    @Test(arguments: [
        ("0", nil), ("500ms", Duration.milliseconds(500)), ("30s", .seconds(30)), ("5m", .seconds(300)),
        ("1h", .seconds(3600)), ("0s", nil), ("\"7s\"", .seconds(7)),
    ])
    func `a duration has a unit, and 0 turns a limit off`(text: String, expected: Duration?) throws {
        let configuration = try #require(report("timeouts: {header: \(text)}\n" + smallest).configuration)
        #expect(configuration.timeouts.header == expected)
    }

    @Test(arguments: [
        "30", "-1s", "1.5s", "30 s", "s", "1d", "1h30m", "99999999999999999999s", "9000h", "٣s",
    ])
    func `what is not a duration is refused with its place`(text: String) {
        let lines = report("timeouts:\n  header: \(text)\n" + smallest).lines
        #expect(lines.count == 1)
        #expect(lines.first?.hasPrefix("c.yaml:2:11: error: timeouts.header: ") == true)
    }

    @Test(arguments: [
        ("1", 1), ("65536", 65536), ("512B", 512), ("64KiB", 65536), ("1MiB", 1_048_576), ("0x10", nil),
        ("1KB", nil),
        ("1k", nil), ("0", nil), ("-1", nil), ("9999999GiB", nil), ("1GiB", nil),
    ])
    func `a size is in bytes or has a binary unit, within bounds`(text: String, expected: Int?) {
        let report = report("limits: {header_bytes: \(text)}\n" + smallest)
        #expect(report.configuration?.limits.headerBytes == expected)
    }

    @Test func `every key that is built is read`() throws {
        let text = """
            listen: [127.0.0.1:8080, "[::1]:8080", unix:/run/bearerd.sock]
            workers: 3
            admin:
              listen: 0.0.0.0:9090
              key: admin-key
              quit: true
            access:
              hosts: [localhost, "app:8080", "[::1]:80"]
              origins: [https://APP.example.com:443, chrome-extension://abc]
              peer_uids: [0, 1000]
              key: local-key
            limits:
              header_bytes: 32KiB
              uri_bytes: 8KiB
              body_bytes: 1GiB
              connections: 5
              requests_per_second: 6
              upstream_connections: 7
            timeouts:
              header: 1s
              idle: 2s
              connect: 3s
              first_byte: 4s
              stream_idle: 5s
              upstream_idle: 6s
              upstream_age: 7s
              token: 8s
              token_wait: 9s
            shutdown: {delay: 1s, grace: 2s}
            development: {provider: 127.0.0.1:9001, api: 127.0.0.1:9002}
            log: {level: debug, format: json, access: false}
            store: {type: memory}
            identities:
              hand-made:
                issuer: https://sso.example.com/realms/demo/
                discovery_url: https://sso.example.com/elsewhere
                authorization_endpoint: https://sso.example.com/authorize
                token_endpoint: https://sso.example.com/token
                device_authorization_endpoint: https://sso.example.com/device
                userinfo_endpoint: https://sso.example.com/userinfo
                revocation_endpoint: https://sso.example.com/revoke
                end_session_endpoint: https://sso.example.com/end
                registration_endpoint: https://sso.example.com/register
                introspection_endpoint: https://sso.example.com/introspect
                pushed_authorization_request_endpoint: https://sso.example.com/par
                jwks_uri: https://sso.example.com/keys
                client_id: 42
                client_secret: hunter2
                token_endpoint_auth_method: client_secret_post
                basic_encoding: raw
                grant_type: refresh_token
                scope: openid  profile openid
                audience: [a, b]
                resource: https://api.example.com/
                token_params: {tenant: blue}
                token_headers: {X-Tenant: blue}
                accept_token_types: [N_A, Bearer]
                refresh_margin: 90s
                default_expires_in: 10m
                proxy: socks5h://user:word@proxy:1080
                connect_to: 127.0.0.1:8443
                allow_insecure_provider: true
                insecure_skip_verify: false
            routes:
              - path: /api
                host: app:8080
                listen: unix:/run/bearerd.sock
                methods: [GET, PURGE]
                upstream: http://api.internal/prefix
                allow_insecure_upstream: true
                strip_prefix: true
                identity: hand-made
                authorization: reject
                header: X-Token
                scheme: ""
                host_header: internal.example.com
                request_headers:
                  set: {X-A: 1}
                  add: {X-B: two}
                  remove: [X-C]
                response_headers: {remove: [Server]}
                forwarded: append
                via: false
                upgrade: []
                retry_on_status: [401, 419]
                replay_buffer: 0
                on_no_token: pass
                timeouts: {connect: 1s, first_byte: 0}
                proxy: environment
                connect_to: "[::1]:8081"
              - path: /open
                upstream: http+unix:/run/api.sock
                identity: none
            """
        let report = report(text)
        #expect(report.problems.filter { $0.severity == .error }.map(\.reason) == [])
        let configuration = try #require(report.configuration)
        #expect(
            configuration.listen.map(\.description) == [
                "127.0.0.1:8080", "[::1]:8080", "unix:/run/bearerd.sock",
            ])
        #expect(configuration.workers == 3)
        #expect(configuration.admin?.listen == .tcp(host: "0.0.0.0", port: 9090))
        #expect(try configuration.admin?.key?.read().plaintext == "admin-key")
        #expect(configuration.admin?.allowsQuit == true)
        #expect(configuration.access.hosts?.map(\.description) == ["localhost", "app:8080", "[::1]:80"])
        #expect(configuration.access.origins == ["https://app.example.com", "chrome-extension://abc"])
        #expect(configuration.access.peerUserIDs == [0, 1000])
        #expect(try configuration.access.key?.read().plaintext == "local-key")
        #expect(configuration.limits.headerBytes == 32 << 10)
        #expect(configuration.limits.uriBytes == 8 << 10)
        #expect(configuration.limits.bodyBytes == 1 << 30)
        #expect(configuration.limits.connections == 5)
        #expect(configuration.limits.requestsPerSecond == 6)
        #expect(configuration.limits.upstreamConnections == 7)
        #expect(configuration.timeouts.header == .seconds(1))
        #expect(configuration.timeouts.idle == .seconds(2))
        #expect(configuration.timeouts.upstream.connect == .seconds(3))
        #expect(configuration.timeouts.upstream.firstByte == .seconds(4))
        #expect(configuration.timeouts.upstream.streamIdle == .seconds(5))
        #expect(configuration.timeouts.upstream.idle == .seconds(6))
        #expect(configuration.timeouts.upstream.age == .seconds(7))
        #expect(configuration.timeouts.token == .seconds(8))
        #expect(configuration.timeouts.tokenWait == .seconds(9))
        #expect(configuration.shutdown.delay == .seconds(1))
        #expect(configuration.shutdown.grace == .seconds(2))
        #expect(configuration.development.provider == .tcp(host: "127.0.0.1", port: 9001))
        #expect(configuration.development.api == .tcp(host: "127.0.0.1", port: 9002))
        #expect(configuration.log.level == .debug)
        #expect(configuration.log.format == .json)
        #expect(!configuration.log.access)
        #expect(configuration.store == .memory)

        let identity = try #require(configuration.identity(named: "hand-made"))
        #expect(identity.client.issuer == "https://sso.example.com/realms/demo/")
        #expect(identity.client.discoveryURL?.path == "/elsewhere")
        #expect(identity.client.endpoints.count == Endpoint.allCases.count)
        #expect(identity.client.endpoints[.pushedAuthorizationRequest]?.path == "/par")
        #expect(identity.client.clientID == "42")
        #expect(try identity.clientSecret?.read().plaintext == "hunter2")
        #expect(identity.client.authentication == .post)
        #expect(identity.client.basicEncoding == .raw)
        #expect(identity.client.grantType == .refreshToken)
        #expect(identity.client.scope == ["openid", "profile"])
        #expect(identity.client.audience == ["a", "b"])
        #expect(identity.client.resource == ["https://api.example.com/"])
        #expect(identity.client.tokenParameters == [NamedValue("tenant", "blue")])
        #expect(identity.client.tokenHeaders == [NamedValue("X-Tenant", "blue")])
        #expect(identity.client.acceptedTokenTypes == ["bearer", "n_a"])
        #expect(identity.client.refreshMargin == .seconds(90))
        #expect(identity.client.defaultLifetime == .seconds(600))
        #expect(identity.client.tokenTimeLimit == .seconds(8))
        #expect(identity.client.allowsInsecureProvider)
        #expect(identity.client.connectsToLoopback == true)
        #expect(identity.transport.connectTo?.description == "127.0.0.1:8443")
        guard case .url(let proxy) = identity.transport.proxy else {
            Issue.record("no proxy")
            return
        }
        #expect(proxy.plaintext == "socks5h://user:word@proxy:1080")

        let route = try #require(configuration.routes.first)
        #expect(route.path == "/api")
        #expect(route.host?.description == "app:8080")
        #expect(route.listen == .unix(path: "/run/bearerd.sock"))
        #expect(route.methods == [.get, HTTPMethod(rawValue: "PURGE")])
        #expect(route.upstream.description == "http://api.internal/prefix")
        #expect(route.stripsPrefix)
        #expect(route.identity == "hand-made")
        #expect(route.authorization == .reject)
        #expect(route.header.description == "X-Token")
        #expect(route.scheme == "")
        #expect(route.hostHeader == .value("internal.example.com"))
        #expect(route.requestHeaders.set.map(\.value) == ["1"])
        #expect(route.requestHeaders.add.map(\.name.description) == ["X-B"])
        #expect(route.requestHeaders.remove.map(\.description) == ["X-C"])
        #expect(route.responseHeaders.remove == [.server])
        #expect(route.forwarded == .append)
        #expect(!route.via)
        #expect(route.upgrade == [])
        #expect(route.retryOnStatus == [401, 419])
        #expect(route.replayBuffer == 0)
        #expect(route.onNoToken == .pass)
        #expect(route.timeouts.connect == .seconds(1))
        #expect(route.timeouts.firstByte == nil)
        #expect(route.timeouts.age == .seconds(7))
        #expect(route.transport.connectTo?.host == "::1")
        guard case .environment = route.transport.proxy else {
            Issue.record("not the environment's proxy")
            return
        }
        #expect(configuration.routes.last?.identity == nil)
        #expect(configuration.routes.last?.upstream.socketPath == "/run/api.sock")
    }
}
