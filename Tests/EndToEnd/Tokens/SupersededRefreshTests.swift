// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Logins and logouts in the daemon while the provider holds the answer to a refresh.
@Suite(.blocking) struct `While a refresh is not answered` {
    private static let stores = ["file", "memory"]

    /// A daemon with a session, and the provider's next answer but `count` held; the provider acts at once all the same.
    private struct Scene {
        let gate = Gate()
        let provider: HostileProvider
        let sidecar: Sidecar
        let imported: String

        init(store: String, moreRoutes: String = "") throws {
            provider = try HostileProvider()
            provider.setPolicy { $0.givesRefreshTokens = true }
            provider.discovery { _, provider in
                provider.discoveryDocument(
                    members: #","revocation_endpoint":"\#(provider.issuer)/revocation""#)
            }
            provider.serve("POST", "/revocation") { _ in .response(200) }
            sidecar = try Sidecar(
                provider: provider,
                .init(
                    identity: "scope: api", moreRoutes: moreRoutes,
                    store: store == "memory" ? "type: memory" : nil, grant: "authorization_code"))
            imported = provider.makeRefreshToken()
            let reply = try hand(over: #"{"kind":"imported","refresh_token":"\#(imported)"}"#)
            guard reply.status == 200 else { throw WireError(reply.text) }
            try sidecar.awaitToken()
        }

        func hand(over json: String) throws -> RawResponse {
            try RawClient(to: sidecar.bearerd.admin).request(
                "POST", "/api/identities/default/session", [("X-Bearerd-Admin", "1")], body: json)
        }

        func logIn() throws -> RawResponse {
            try hand(
                over:
                    #"{"kind":"code","code":"c","redirect_uri":"http://127.0.0.1/","code_verifier":"v","nonce":"n"}"#
            )
        }

        /// Has a refresh wait for the provider, which has made its new refresh token by then.
        ///
        /// - Parameter count: how many others it answers first.
        /// - Returns: who asked for it, and that token.
        func hold(after count: Int = 0) throws -> (asker: RawClient, token: String) {
            let gate = gate
            let token = Monitor<String?>(nil)
            for _ in 0..<count { provider.script({ request, provider in provider.goodAnswer(to: request) }) }
            provider.script({ request, provider in
                let answer = provider.goodAnswer(to: request)
                token.withLock { $0 = provider.latestRefreshToken }
                return answer.held(by: gate)
            })
            let client = try RawClient(to: sidecar.bearerd.admin)
            try client.send("POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
            return (client, try token.wait(for: "the refresh") { $0 })
        }

        func awaitTokens() throws {
            try eventually("every token") {
                try sidecar.identityStatus()["tokens"].array.allSatisfy { $0["state"].string == "authorized" }
            }
        }

        var revoked: [String] { provider.requests("POST", "/revocation").compactMap { $0["token"] } }

        var stored: String {
            get throws {
                try Subprocess.run(["/bin/sh", "-c", "cat \(sidecar.storeDirectory)/* 2>&1"]).output
            }
        }
    }

    @Test(arguments: stores) func `a logout is not undone, and the provider forgets what it holds`(
        store: String
    ) throws {
        let scene = try Scene(store: store)
        let (asker, held) = try scene.hold()
        let count = scene.provider.requests.count
        #expect(try scene.sidecar.act("logout").status == 200)
        #expect(try scene.sidecar.state() == "login_required")
        #expect(try asker.wire.readResponse().status != 200)
        #expect(!scene.revoked.contains(held))
        scene.gate.open()
        try eventually("its answer to be revoked") { scene.revoked.contains(held) }
        #expect(try scene.sidecar.state() == "login_required")
        #expect(try scene.sidecar.identityStatus()["last_error"]["code"].string == nil)
        let reply = try scene.sidecar.get()
        #expect(reply.status == 503 && reply.problem == "login_required")
        #expect(scene.provider.requests.count == count)
        #expect(try LeakScan.leaks(of: scene.provider.handedOut, in: scene.stored).isEmpty)
        #expect(try scene.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: stores) func `a login is not undone, and its session goes on`(store: String) throws {
        let scene = try Scene(store: store)
        let (asker, held) = try scene.hold()
        #expect(try scene.logIn().status == 200)
        let mine = try #require(scene.provider.latestRefreshToken)
        #expect(mine != held)
        #expect(try scene.sidecar.state() == "authorized")
        let token = scene.provider.accessTokens.last
        #expect(try asker.wire.readResponse().status == 200, "there is a new token")
        scene.gate.open()
        #expect(try scene.sidecar.get().status == 200)
        #expect(scene.sidecar.upstream.tokens.last == token)
        for _ in 0..<2 { #expect(try scene.sidecar.act("refresh").status == 200) }
        let shown = scene.provider.requests.suffix(2).compactMap { $0["refresh_token"] }
        #expect(shown.first == mine && !shown.contains(held))
        #expect(scene.revoked.isEmpty)
        #expect(try scene.sidecar.bearerd.terminate() == .exited(0))
    }

    @Test(arguments: stores) func `of a route's own token neither is undone`(store: String) throws {
        let scene = try Scene(
            store: store,
            moreRoutes: """
                - path: /read
                  upstream: http://127.0.0.1:1
                  identity: default
                  scope: api.read
                """)
        try scene.provider.request(2)
        try scene.awaitTokens()
        let (asker, held) = try scene.hold(after: 1)
        let count = scene.provider.requests.count
        #expect(try scene.logIn().status == 200)
        // The code's, and the one that the route asks for with what that brought.
        try scene.provider.request(count + 2)
        try scene.awaitTokens()
        _ = try asker.wire.readResponse()
        let (again, second) = try scene.hold(after: 1)
        #expect(try scene.sidecar.act("logout").status == 200)
        _ = try again.wire.readResponse()
        scene.gate.open()
        try eventually("its answer to be revoked") { scene.revoked.contains(second) }
        #expect(scene.provider.requests.count { $0["refresh_token"] == held } == 0)
        let tokens = try scene.sidecar.identityStatus()["tokens"].array
        #expect(tokens.count == 2 && tokens.allSatisfy { $0["state"].string == "login_required" })
        #expect(try LeakScan.leaks(of: scene.provider.handedOut, in: scene.stored).isEmpty)
        #expect(try scene.sidecar.bearerd.terminate() == .exited(0))
    }
}
