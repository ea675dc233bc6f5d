// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdObservability
import BearerdRouting
import OAuth
import Testing

@testable import BearerdConfiguration

@Suite struct `What a configuration leaves out` {
    @Test func `the smallest file has no problem and every default of the contract`() throws {
        let report = report(smallest)
        #expect(report.lines == [])
        let configuration = try #require(report.configuration)
        #expect(configuration.listen == [.tcp(host: "127.0.0.1", port: 8080)])
        #expect(configuration.admin == nil)
        #expect(configuration.workers == nil)
        #expect(configuration.access.hosts == nil)
        #expect(configuration.access.origins == [])
        #expect(configuration.access.peerUserIDs == nil)
        #expect(configuration.limits.headerBytes == 65536)
        #expect(configuration.limits.uriBytes == 16384)
        #expect(configuration.limits.streams == 100)
        #expect(configuration.limits.bodyBytes == nil)
        #expect(configuration.limits.connections == 10_000)
        #expect(configuration.limits.requestsPerSecond == nil)
        #expect(configuration.limits.upstreamConnections == 1024)
        #expect(configuration.timeouts.header == .seconds(10))
        #expect(configuration.timeouts.idle == .seconds(75))
        #expect(configuration.timeouts.halfClosed == .seconds(2))
        #expect(configuration.timeouts.token == .seconds(10))
        #expect(configuration.timeouts.tokenWait == .seconds(10))
        #expect(configuration.timeouts.upstream.connect == .seconds(5))
        #expect(configuration.timeouts.upstream.firstByte == .seconds(60))
        #expect(configuration.timeouts.upstream.streamIdle == .seconds(300))
        #expect(configuration.timeouts.upstream.idle == .seconds(30))
        #expect(configuration.timeouts.upstream.age == .seconds(600))
        #expect(configuration.shutdown.delay == .zero)
        #expect(configuration.shutdown.grace == .seconds(30))
        #expect(configuration.shutdown.streamCloseDelay == .seconds(30) && configuration.reload == .manual)
        #expect(!configuration.development.isOn)
        #expect(configuration.log.level == .info)
        #expect(configuration.log.format == nil)
        #expect(configuration.log.access)
        #expect(configuration.store.directory?.hasSuffix("/bearerd") == true)
    }

    @Test func `a route has every default of the contract`() throws {
        let route = try #require(report(smallest).configuration?.routes.first)
        #expect(route.key.path == "/")
        #expect(route.key.host == nil)
        #expect(route.key.listen == nil)
        #expect(route.key.methods == nil)
        #expect(!route.terms.stripsPrefix)
        #expect(route.identity == "default")
        #expect(route.terms.authorization == .overwrite)
        #expect(route.terms.credentials.name == .authorization)
        #expect(route.terms.credentials.scheme == "Bearer")
        #expect(route.terms.hostField == .upstream)
        #expect(route.terms.requestEdits.isEmpty)
        #expect(route.terms.responseEdits.isEmpty)
        #expect(route.terms.forwarded == .none)
        #expect(route.terms.via)
        #expect(route.terms.upgrade == ["websocket"])
        #expect(route.terms.retryOnStatus == [401])
        #expect(route.terms.replayBuffer == 65536)
        #expect(route.terms.onNoToken == .fail)
    }

    @Test func `an identity has every default of the contract`() throws {
        let identity = try #require(report(smallest).configuration?.identity(named: "default"))
        #expect(identity.client.authentication == .none)
        #expect(identity.client.basicEncoding == .automatic)
        #expect(identity.client.grantType == .authorizationCode)
        #expect(identity.client.acceptedTokenTypes == ["bearer"])
        #expect(identity.client.refreshMargin == nil)
        #expect(identity.client.defaultLifetime == .seconds(300))
        #expect(identity.client.tokenTimeLimit == .seconds(10))
        #expect(identity.client.connectsToLoopback == nil)
        #expect(!identity.transport.skipsVerification)
        #expect(identity.clientSecret == nil)
    }

    @Test func `a secret makes Basic the way the client proves itself`() throws {
        let report = report(withIdentity("client_secret: s"))
        #expect(report.configuration?.identities.first?.client.authentication == .basic)
    }

    @Test func `the store's directory is systemd's where there is one`() {
        let report = report(smallest, environment: ["STATE_DIRECTORY": "/var/lib/other"])
        #expect(report.configuration?.store.directory == "/var/lib/other")
    }

    @Test(arguments: [
        (true, [:], "/var/lib/bearerd"),
        (true, ["XDG_STATE_HOME": "/x", "HOME": "/root"], "/var/lib/bearerd"),
        (true, ["STATE_DIRECTORY": "/s:/t"], "/s"),
        (false, ["STATE_DIRECTORY": "/s", "XDG_STATE_HOME": "/x"], "/s"),
        (false, ["XDG_STATE_HOME": "/x", "HOME": "/people/a"], "/x/bearerd"),
        (false, ["XDG_STATE_HOME": "x", "HOME": "/people/a"], "/people/a/.local/state/bearerd"),
        (false, ["XDG_STATE_HOME": ""], "/var/lib/bearerd"),
        (false, [:], "/var/lib/bearerd"),
    ])
    func `a user's own store is where users keep state`(
        isRoot: Bool, environment: [String: String], directory: String
    ) {
        let found = StoreConfiguration.standardDirectory(isRoot: isRoot) { environment[$0] }
        #expect(found == directory)
    }
}
