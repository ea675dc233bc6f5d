// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPMessages
import BearerdObservability
import BearerdRouting
import OAuth
import Testing

@Suite struct `The values of a configuration` {
    @Test(arguments: [
        ("0", Duration.zero), ("500ms", .milliseconds(500)), ("30s", .seconds(30)), ("5m", .seconds(300)),
        ("1h", .seconds(3600)), ("0s", .zero), ("\"7s\"", .seconds(7)),
    ])
    func `a duration has a unit, and 0 turns a limit off`(text: String, expected: Duration) throws {
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
        ("1", 1), ("65536", 65536), ("512B", 512), ("64KiB", 65536), ("1MiB", 1_048_576), ("0x10", 16),
        ("1KB", nil),
        ("1k", nil), ("0", nil), ("-1", nil), ("9999999GiB", nil), ("1GiB", nil),
    ])
    func `a size is in bytes or has a binary unit, within bounds`(text: String, expected: Int?) {
        let report = report("limits: {header_bytes: \(text)}\n" + smallest)
        #expect(report.configuration?.limits.headerBytes == expected)
    }

    @Test(arguments: [
        ("64KiB", "", "", false), ("65KiB", "", "", true),
        ("65KiB", "listen: {address: 127.0.0.1:1, protocols: [http1]}\n", "", false),
        ("65KiB", "listen: {address: 127.0.0.1:1, protocols: [h2]}\n", "", true),
        ("65KiB", "listen: {address: 127.0.0.1:1, protocols: [http1]}\n", "upstream_protocol: h2", true),
    ])
    func `a limit on heads that no field of HTTP2 can reach is warned of`(
        size: String, listen: String, route: String, isWarnedOf: Bool
    ) {
        let lines = report(listen + "limits:\n  header_bytes: \(size)\n" + withRoute(route)).lines
        #expect(lines.count == (isWarnedOf ? 1 : 0), "\(lines)")
        #expect(lines.allSatisfy { $0.contains("warning: limits.header_bytes: over HTTP/2 a single field") })
    }

    @Test(arguments: ["no such user", "4294967295", "-1", "true", "\"\""])
    func `what is no user is refused with its place`(text: String) {
        let lines = report("admin:\n  owner: \(text)\n  peer_uids: [\(text)]\n" + smallest).lines
        #expect(lines.count == 2 && lines.first?.hasPrefix("c.yaml:2:10: error: admin.owner: ") == true)
        #expect(lines.last?.hasPrefix("c.yaml:3:15: error: admin.peer_uids[0]: ") == true, "\(lines)")
    }

    @Test func `every key that is built is read`() throws {
        let report = report(everyKey)
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
        #expect(configuration.admin?.peerUserIDs == [0, 1000] && configuration.admin?.owner == 0)
        #expect(configuration.access.hosts?.map(\.description) == ["localhost", "app:8080", "[::1]:80"])
        #expect(configuration.access.origins == ["https://app.example.com", "chrome-extension://abc"])
        #expect(configuration.access.peerUserIDs == [0, 1000])
        #expect(
            try configuration.access.keys.map { try $0.source.read().plaintext } == ["local-key", "next-key"])
        #expect(configuration.access.keys.map(\.path) == ["access.key", "access.keys[0].key"])
        #expect(configuration.limits.headerBytes == 32 << 10)
        #expect(configuration.limits.uriBytes == 8 << 10)
        #expect(configuration.limits.streams == 10)
        #expect(configuration.limits.bodyBytes == 1 << 30)
        #expect(configuration.limits.connections == 5)
        #expect(configuration.limits.requestsPerSecond == 6)
        #expect(configuration.limits.upstreamConnections == 7)
        #expect(configuration.timeouts.header == .seconds(1))
        #expect(configuration.timeouts.idle == .seconds(2))
        #expect(configuration.timeouts.halfClosed == .seconds(10))
        #expect(configuration.timeouts.upstream.connect == .seconds(3))
        #expect(configuration.timeouts.upstream.firstByte == .seconds(4))
        #expect(configuration.timeouts.upstream.streamIdle == .seconds(5))
        #expect(configuration.timeouts.upstream.idle == .seconds(6))
        #expect(configuration.timeouts.upstream.age == .seconds(7))
        #expect(configuration.timeouts.token == .seconds(8))
        #expect(configuration.timeouts.tokenWait == .seconds(9))
        #expect(configuration.shutdown.delay == .seconds(1))
        #expect(configuration.shutdown.grace == .seconds(2))
        #expect(configuration.shutdown.streamCloseDelay == .seconds(3) && configuration.reload == .watch)
        #expect(configuration.development.provider == .tcp(host: "127.0.0.1", port: 9001))
        #expect(configuration.development.api == .tcp(host: "127.0.0.1", port: 9002))
        #expect(configuration.log.level == .debug)
        #expect(configuration.log.format == .json)
        #expect(!configuration.log.access)
        #expect(configuration.onStateChange == ["/usr/bin/logger", "-t", "bearerd"])
        #expect(configuration.identities.first?.onStateChange == [])
        #expect(configuration.store.directory == nil)

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
        #expect(route.key.path == "/api")
        #expect(route.key.host?.description == "app:8080")
        #expect(route.key.listen == .unix(path: "/run/bearerd.sock"))
        #expect(route.key.methods == [.get, HTTPMethod(rawValue: "PURGE")])
        #expect(route.terms.rules?.rules.map(\.path.text) == ["/api/**", "/api/*/x"])
        #expect(route.terms.rules?.rules.map(\.methods) == [[.get], nil])
        #expect(route.upstream.description == "http://api.internal/prefix")
        #expect(route.terms.stripsPrefix)
        #expect(route.identity == "hand-made")
        #expect(route.terms.authorization == .reject)
        #expect(route.terms.credentials.name.description == "X-Token")
        #expect(route.terms.credentials.scheme == "")
        #expect(route.terms.hostField == .value("internal.example.com"))
        #expect(route.terms.requestEdits.set.map(\.value) == ["1"])
        #expect(route.terms.requestEdits.add.map(\.name.description) == ["X-B"])
        #expect(route.terms.requestEdits.remove.map(\.description) == ["X-C"])
        #expect(route.terms.responseEdits.remove == [.server])
        #expect(route.terms.forwarded == .append)
        #expect(!route.terms.via)
        #expect(route.terms.upgrade == [])
        #expect(route.terms.retryOnStatus == [401, 419])
        #expect(route.terms.replayBuffer == 0)
        #expect(route.terms.onNoToken == .pass)
        #expect(route.terms.timeouts.connect == .seconds(1))
        #expect(route.terms.timeouts.firstByte == .zero)
        #expect(route.terms.timeouts.age == .seconds(7))
        #expect(route.transport.connectTo?.host == "::1")
        guard case .environment = route.transport.proxy else {
            Issue.record("not the environment's proxy")
            return
        }
        #expect(configuration.routes.last?.identity == nil)
        #expect(configuration.routes.last?.upstream.socketPath == "/run/api.sock")
    }
}
