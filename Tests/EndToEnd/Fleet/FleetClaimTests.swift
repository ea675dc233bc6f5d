// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Commands elsewhere, while a daemon of a fleet has the lock and waits for a provider that hangs.
@Suite(.blocking, .needs(.redis)) struct `A person whose fleet waits for its provider` {
    private let fleet: Fleet
    private let daemon: Sidecar

    init() throws {
        fleet = try Fleet(isBrief: true)
        fleet.provider.discovery { _, provider in
            provider.discoveryDocument(members: #","revocation_endpoint":"\#(provider.issuer)/revocation""#)
        }
        fleet.provider.serve("POST", "/revocation") { _ in .response(200) }
        daemon = try fleet.daemons(1)[0]
    }

    /// Has the daemon wait for the provider with the lock.
    private func freeze(_ path: String?) throws {
        fleet.provider.freeze(path)
        _ = try daemon.act("invalidate")
        try fleet.provider.awaitArrivals(1, of: "/token")
        try eventually("the silence") { try daemon.state() == "idp_unavailable" }
        #expect(try fleet.redis("EXISTS", "bearerd:lock:default") == "1")
    }

    @Test func `imports another session at once`() throws {
        try freeze(nil)
        let file = try daemon.directory.write("token", fleet.provider.makeRefreshToken())
        let done = try fleet.command(["import", "--refresh-token", file])
        #expect(done.exit == 0, "\(done.errors)")
        fleet.provider.wake()
        try eventually("a token of that session") { try daemon.get().status == 200 }
        #expect(try fleet.redis("EXISTS", "bearerd:claim:default") == "0")
    }

    @Test(arguments: [["logout", "--no-browser"], ["revoke"]])
    func `ends the session at once`(words: [String]) throws {
        try freeze("/token")
        let done = try fleet.command(words)
        #expect(done.exit == 0, "\(done.errors)")
        try eventually("the end of the session") { try daemon.state() == "login_required" }
        fleet.provider.wake()
        #expect(try daemon.get().problem == "login_required")
    }
}
