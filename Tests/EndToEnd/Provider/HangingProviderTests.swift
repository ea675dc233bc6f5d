// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A provider that takes requests and answers none for longer than several `timeouts.token`, and does all of them when it
/// wakes: a refresh token that it finds twice is a theft to it.
@Suite(.blocking) struct `While the provider hangs` {
    private static let metadata = "/.well-known/openid-configuration"
    private static let top = "timeouts:\n  token: 500ms\n  token_wait: 300ms\nshutdown:\n  grace: 1s"

    /// A daemon with an imported session.
    private struct Scene {
        let provider: HostileProvider
        let sidecar: Sidecar

        init(
            store: String = "file", top: String = top, moreRoutes: String = "", rotates: Bool = true
        ) throws {
            let provider = try HostileProvider()
            provider.setPolicy {
                $0.givesRefreshTokens = true
                $0.rotates = rotates
            }
            self.provider = provider
            sidecar = try Sidecar(
                provider: provider,
                .init(
                    top: top, identity: "scope: api", moreRoutes: moreRoutes,
                    store: store == "memory" ? "type: memory" : nil,
                    grant: "authorization_code"))
            try hand(over: #"{"kind":"imported","refresh_token":"\#(provider.makeRefreshToken())"}"#)
            try awaitTokens()
        }

        func hand(over json: String) throws {
            let reply = try RawClient(to: sidecar.bearerd.admin).request(
                "POST", "/api/identities/default/session", [("X-Bearerd-Admin", "1")], body: json)
            guard reply.status == 200 else { throw WireError(reply.text) }
        }

        func awaitTokens() throws {
            try eventually("every token") {
                let tokens = try sidecar.identityStatus()["tokens"].array
                return try tokens.isEmpty
                    ? sidecar.state() == "authorized"
                    : tokens.allSatisfy { $0["state"].string == "authorized" }
            }
        }

        /// Has the provider hang, and a refresh wait for it that nobody has a token without.
        func freeze(_ path: String? = nil) throws {
            provider.freeze(path)
            _ = try sidecar.act("invalidate")
            try provider.awaitArrivals(1, of: "/token")
        }

        /// Every refresh token that the provider was shown.
        var shown: [String] { provider.requests.compactMap { $0["refresh_token"] } }

        /// The session goes on, and nothing was shown twice.
        func expectSurvival() throws {
            try eventually("a token") { try sidecar.get().status == 200 }
            #expect(try sidecar.state() == "authorized")
            #expect(Set(shown).count == shown.count)
            let before = shown.count
            #expect(try sidecar.act("refresh").status == 200)
            #expect(shown.count == before + 1)
        }
    }

    @Test(arguments: ["file", "memory"]) func `it gets a refresh token once, and its late answer counts`(
        store: String
    ) throws {
        let scene = try Scene(store: store)
        try scene.freeze()
        try scene.provider.awaitArrivals(3, of: Self.metadata)
        #expect(scene.provider.arrivals("/token") == 1)
        #expect(try scene.sidecar.get().problem == "idp_unavailable")
        #expect(try scene.sidecar.act("refresh").status >= 400)
        #expect(try scene.sidecar.state() == "idp_unavailable" && scene.sidecar.lastError() == "timed_out")
        #expect(
            try scene.sidecar.lastErrorDetail().contains(
                "\(scene.provider.tokenEndpoint) did not answer within 0.5 s"))
        let told = scene.sidecar.bearerd.logLines.filter { $0.message.contains("the provider hangs") }
        #expect(told.count == 1 && told.first?["level"] == "warning")
        scene.provider.wake()
        try scene.expectSurvival()
        if store == "file" {
            #expect(scene.sidecar.storedSession.contains(try #require(scene.provider.latestRefreshToken)))
        }
        #expect(try scene.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `each route with a scope of its own goes on`() throws {
        let scene = try Scene(
            moreRoutes: """
                - path: /read
                  upstream: http://127.0.0.1:1
                  identity: default
                  scope: api.read
                """)
        try scene.freeze()
        try scene.provider.awaitArrivals(3, of: Self.metadata)
        #expect(scene.provider.arrivals("/token") == 1)
        scene.provider.wake()
        try scene.awaitTokens()
        #expect(Set(scene.shown).count == scene.shown.count)
    }

    @Test func `other processes on the store wait`() throws {
        let scene = try Scene()
        let peer = try scene.sidecar.another(.init(top: Self.top, grant: "authorization_code"))
        try eventually("a token for both") { try peer.get().status == 200 }
        try scene.freeze()
        let configuration = scene.sidecar.directory.path("config.yaml")
        #expect(try BearerdProcess.command("refresh", "-c", configuration).exit != 0)
        let waiting = Background { try peer.act("refresh").status }
        try scene.provider.awaitArrivals(3, of: Self.metadata)
        #expect(scene.provider.arrivals("/token") == 1)
        scene.provider.wake()
        #expect(try waiting.value() == 200)
        try scene.expectSurvival()
        try eventually("a token for both") { try peer.get().status == 200 }
        #expect(Set(scene.shown).count == scene.shown.count)
    }

    @Test func `and dies, the token is sent once more when it is there again`() throws {
        let scene = try Scene()
        try scene.freeze()
        try scene.provider.awaitArrivals(1, of: Self.metadata)
        scene.provider.die()
        try scene.expectSurvival()
    }

    @Test(arguments: [SIGTERM, SIGKILL])
    func `a daemon that ends leaves word of it, and the next one asks first`(
        signal: Int32
    ) throws {
        let scene = try Scene()
        try scene.freeze()
        try scene.provider.awaitArrivals(2, of: Self.metadata)
        scene.sidecar.bearerd.process.signal(signal)
        #expect(
            try scene.sidecar.bearerd.process.waitForEnd()
                == (signal == SIGTERM ? .exited(1) : .signalled(SIGKILL)))
        scene.provider.freeze()
        let next = try scene.sidecar.another(.init(top: Self.top, grant: "authorization_code"))
        try scene.provider.awaitArrivals(3, of: Self.metadata)
        #expect(scene.provider.arrivals("/token") == 0)
        #expect(try next.get().problem == "idp_unavailable")
        scene.provider.die()
        try eventually("a token") { try next.get().status == 200 }
        #expect(Set(scene.shown).count == scene.shown.count)
        #expect(next.bearerd.logLines.count { $0.message.contains("may be spent") } == 1)
    }

    @Test(arguments: ["daemon", "command"]) func `a session that somebody brings takes its place at once`(
        how: String
    ) throws {
        let scene = try Scene()
        try scene.freeze("/token")
        try eventually("the silence") { try scene.sidecar.state() == "idp_unavailable" }
        if how == "daemon" {
            // Only what has come hangs.
            scene.provider.hangNoLonger()
            try scene.hand(
                over:
                    #"{"kind":"code","code":"c","redirect_uri":"http://127.0.0.1/","code_verifier":"v","nonce":"n"}"#
            )
        } else {
            let file = try scene.sidecar.directory.write("token", scene.provider.makeRefreshToken())
            // The wait cannot be over before the command ends: all that is sent hangs.
            let result = try BearerdProcess.command(
                "import", "--refresh-token", file, "-c", scene.sidecar.directory.path("config.yaml"))
            #expect(result.exit == 0, "\(result.errors)")
            scene.provider.hangNoLonger()
        }
        try eventually("a token") { try scene.sidecar.get().status == 200 }
        let shown = scene.shown.count
        scene.provider.wake()
        try eventually("the late request") { scene.shown.count > shown }
        #expect(try scene.sidecar.act("refresh").status == 200)
        #expect(try scene.sidecar.state() == "authorized")
        #expect(try scene.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test func `but for this, the token is sent once more, and a refusal of that harms no answer`() throws {
        let scene = try Scene()
        let gate = Gate()
        scene.provider.script(
            { request, provider in provider.goodAnswer(to: request).held(by: gate) },
            { _, _ in .oauthError("invalid_grant") })
        let before = scene.shown.count
        _ = try scene.sidecar.act("invalidate")
        try scene.provider.request(before + 2)
        try eventually("the refusal") { try scene.sidecar.state() == "login_required" }
        gate.open()
        try eventually("a token") { try scene.sidecar.get().status == 200 }
        #expect(scene.shown.count == before + 2)
        #expect(try scene.sidecar.act("refresh").status == 200)
    }

    @Test func `but for this, the configuration that a reload brings sends the token once more by itself`()
        throws
    {
        let scene = try Scene()
        let gate = Gate()
        defer { gate.open() }
        scene.provider.script({ _, _ in .oauthError("temporarily_unavailable").held(by: gate) })
        let before = scene.shown.count
        _ = try scene.sidecar.act("invalidate")
        try scene.provider.request(before + 1)
        let text = Sidecar.configuration(
            provider: scene.provider, upstream: scene.sidecar.upstream.url,
            clientSecret: scene.sidecar.clientSecret, directory: scene.sidecar.directory,
            .init(top: Self.top, identity: "refresh_margin: 3s", grant: "authorization_code"))
        try scene.sidecar.directory.write("config.yaml", text)
        let reload = try scene.sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        try scene.provider.request(before + 2)
        try eventually("a token") { try scene.sidecar.get().status == 200 }
        #expect(scene.shown.suffix(2).first == scene.shown.last)
    }

    @Test(arguments: ["file", "memory"])
    func `a late answer to the configuration before a reload comes before the token is sent once more`(
        store: String
    ) throws {
        let scene = try Scene(store: store)
        let gate = Gate()
        defer { gate.open() }
        scene.provider.script({ request, provider in provider.goodAnswer(to: request).held(by: gate) })
        let before = scene.shown.count
        _ = try scene.sidecar.act("invalidate")
        try scene.provider.request(before + 1)
        let text = Sidecar.configuration(
            provider: scene.provider, upstream: scene.sidecar.upstream.url,
            clientSecret: scene.sidecar.clientSecret, directory: scene.sidecar.directory,
            .init(
                top: Self.top, identity: "refresh_margin: 3s",
                store: store == "memory" ? "type: memory" : nil, grant: "authorization_code"))
        try scene.sidecar.directory.write("config.yaml", text)
        let reload = try scene.sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        // The new configuration has the lock, and looks whether the provider answers.
        try eventually("the doubt") {
            scene.sidecar.bearerd.logLines.contains { $0.message.contains("may be spent") }
        }
        gate.open()
        try scene.expectSurvival()
    }

    @Test(arguments: [true, false]) func `what is not replaced is asked for again as ever`(
        isClient: Bool
    ) throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.rotates = false }
        let sidecar = try Sidecar(
            provider: provider,
            .init(top: Self.top, grant: isClient ? "client_credentials" : "refresh_token"))
        if !isClient { try sidecar.importSession() }
        try sidecar.awaitToken()
        // One answer without another refresh token is no word that none is ever replaced.
        for _ in 0..<3 where !isClient { #expect(try sidecar.act("refresh").status == 200) }
        provider.freeze("/token")
        _ = try sidecar.act("invalidate")
        try provider.awaitArrivals(3, of: "/token")
        #expect(provider.arrivals(Self.metadata) == 0)
        provider.wake()
        try eventually("a token") { try sidecar.get().status == 200 }
    }
}
