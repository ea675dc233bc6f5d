// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What becomes of a session in memory alone when its daemon is to end.
@Suite(.blocking) struct `A session that is in memory alone when the end comes` {
    private static let waiting = "draining: waiting for the store to take a session that is in memory alone"
    private static let lost = "a session is lost: it was in memory alone, and the store did not take it"

    /// A daemon whose store has no room for what a rotation has brought.
    private final class FullDisk {
        let disk: SmallDisk
        let sidecar: Sidecar
        let newest: String

        init(top: String = "", admin: String = "", moreRoutes: String = "") throws {
            let directory = try TemporaryDirectory()
            disk = try SmallDisk(at: directory.path("store"))
            let provider = try HostileProvider()
            provider.setPolicy { $0.givesRefreshTokens = true }
            provider.serve("POST", "/revocation") { _ in .response(200) }
            sidecar = try Sidecar(
                provider: provider, directory: directory,
                .init(
                    top: top, identity: "revocation_endpoint: \(provider.issuer)/revocation",
                    moreRoutes: moreRoutes, admin: admin, grant: "refresh_token"))
            try sidecar.importSession()
            try sidecar.awaitToken()
            disk.fill()
            guard try sidecar.act("refresh").status < 300, let newest = provider.latestRefreshToken else {
                throw WireError("no rotation")
            }
            self.newest = newest
        }

        func awaitNotice() throws {
            let line = try sidecar.bearerd.logLine("the wait") { $0.message == waiting }
            #expect(line["identity"] == "default" && line["reason"] != nil, "\(line.json)")
            #expect(line["remaining_seconds"] != nil, "\(line.json)")
        }
    }

    @Test(.needs(.smallDisk), arguments: ["SIGTERM", "quit"])
    func `is stored when there is room before the grace ends`(way: String) throws {
        let scene = try FullDisk(admin: "quit: true")
        if way == "quit" {
            #expect(try scene.sidecar.admin("POST", "/api/quit", [("X-Bearerd-Admin", "1")]).status == 202)
        } else {
            scene.sidecar.bearerd.process.signal(SIGTERM)
        }
        try scene.awaitNotice()
        scene.disk.makeRoom()
        #expect(try scene.sidecar.bearerd.process.waitForEnd() == .exited(0))
        #expect(scene.disk.everything.contains(scene.newest))
    }

    @Test(.needs(.smallDisk))
    func `is called the end of one where somebody has logged out, whether or not there were tokens`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let sidecar = try Sidecar(
            directory: directory, .init(top: "shutdown: {grace: 1s}", grant: "refresh_token"))
        disk.fill()
        try sidecar.act("logout")
        sidecar.bearerd.process.signal(SIGTERM)
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(1))
        try sidecar.bearerd.logLine("the loss") { $0.message.hasPrefix("the end of a session is lost") }
        #expect(!sidecar.bearerd.log.contains(Self.lost))
    }

    /// The store's tokens are not the newest, and nobody who reads that they are revoked would look for others.
    @Test(.needs(.smallDisk), arguments: ["logout", "revoke"])
    func `is the one that a command ends, and not the older one of the store`(command: String) throws {
        let scene = try FullDisk()
        let directory = scene.sidecar.directory
        let text = String(
            decoding: TemporaryDirectory.contents(of: directory.path("config.yaml")), as: UTF8.self)
        // A daemon that runs by another file is none of the command's.
        let file = try directory.write("config.yaml", text.asking(scene.sidecar.bearerd.admin))
        let result = try BearerdProcess.command(command, "-c", file)
        #expect(result.exit == 0, "\(result)")
        #expect(!scene.disk.everything.contains(scene.newest))
        let revoked = scene.sidecar.provider.requests("POST", "/revocation").map { $0["token"] }
        #expect(revoked.contains(scene.newest), "\(result)")
        #expect(try scene.sidecar.get().status == 503, "the daemon has ended it too")
    }

    @Test(.needs(.smallDisk))
    func `is named as lost, with code 1, when the grace ends before there is room`() throws {
        let scene = try FullDisk(top: "shutdown: {grace: 3s}")
        #expect(try scene.sidecar.bearerd.terminate() == .exited(1))
        let line = try scene.sidecar.bearerd.logLine("the loss") { $0.message == Self.lost }
        #expect(line["identity"] == "default" && line["level"] == "error", "\(line.json)")
        #expect(line["reason"]?.contains("No space left") == true, "\(line.json)")
    }

    @Test(.needs(.smallDisk))
    func `is named as lost by a second signal, which ends the process at once`() throws {
        let scene = try FullDisk()
        scene.sidecar.bearerd.process.signal(SIGTERM)
        try scene.awaitNotice()
        #expect(try scene.sidecar.bearerd.terminate() == .exited(1))
        try scene.sidecar.bearerd.logLine("the loss") { $0.message == Self.lost }
    }

    @Test(.needs(.smallDisk))
    func `is stored, whichever of the routes with tokens of their own has rotated it`() throws {
        let scene = try FullDisk(
            moreRoutes: "- {path: /own, upstream: 'http://127.0.0.1:1', identity: default, scope: own}")
        let before = scene.sidecar.provider.requests.count
        _ = try scene.sidecar.act("refresh")
        try eventually("both to ask") { scene.sidecar.provider.requests.count >= before + 2 }
        try eventually("both to be answered") {
            try scene.sidecar.identityStatus()["state"].string == "authorized"
        }
        let newest = try #require(scene.sidecar.provider.latestRefreshToken)
        scene.sidecar.bearerd.process.signal(SIGTERM)
        try scene.awaitNotice()
        scene.disk.makeRoom()
        #expect(try scene.sidecar.bearerd.process.waitForEnd() == .exited(0))
        #expect(scene.disk.everything.contains(newest))
    }

    @Test(
        .needs(.smallDisk),
        arguments: [true, false])
    func `is stored after a reload took its identity away`(isRetired: Bool) throws {
        let scene = try FullDisk(
            top: isRetired ? "timeouts: {token_wait: 100ms}\nlog: {level: debug}" : "log: {level: debug}")
        let file = scene.sidecar.directory.path("config.yaml")
        let text = String(decoding: TemporaryDirectory.contents(of: file), as: UTF8.self)
            .replacing("\n  default:\n", with: "\n  another:\n")
            .replacing("    identity: default\n", with: "    identity: another\n")
        try scene.sidecar.directory.write("config.yaml", text)
        let reload = try scene.sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        if isRetired { _ = try Subprocess.run(["/bin/sleep", "2"]) }
        scene.sidecar.bearerd.process.signal(SIGTERM)
        try scene.awaitNotice()
        scene.disk.makeRoom()
        #expect(try scene.sidecar.bearerd.process.waitForEnd() == .exited(0))
        #expect(scene.disk.everything.contains(scene.newest))
    }

    @Test(.needs(.smallDisk))
    func `keeps nobody waiting where the configuration brings it again`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        disk.fill()
        let sidecar = try Sidecar(directory: directory)
        try sidecar.awaitToken()
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        #expect(!sidecar.bearerd.log.contains(Self.waiting) && !sidecar.bearerd.log.contains(Self.lost))
    }

    @Test func `is stored when the store's directory comes back`() throws {
        let receiver = try NotificationReceiver(at: "@bearerd-test-\(randomText())")
        let provider = try HostileProvider()
        let sidecar = try Sidecar(
            provider: provider, environment: ["NOTIFY_SOCKET": receiver.name], .init(grant: "refresh_token"))
        try sidecar.importSession()
        try sidecar.awaitToken()
        _ = try Subprocess.run(["/bin/rm", "-rf", sidecar.storeDirectory])
        sidecar.bearerd.process.signal(SIGTERM)
        try sidecar.bearerd.logLine("the wait") { $0.message == Self.waiting }
        try receiver.notice("the wait") {
            $0["STATUS"]?.hasPrefix("draining, waiting for the store to take default") == true
        }
        mkdir(sidecar.storeDirectory, 0o700)
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
        #expect(sidecar.storedSession.contains(try #require(provider.latestRefreshToken)))
    }

    @Test func `is waited for where a login is not answered yet`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let sidecar = try Sidecar(
            provider: provider, .init(identity: "scope: api", grant: "authorization_code"))
        let gate = Gate()
        provider.script({ request, provider in provider.goodAnswer(to: request).held(by: gate) })
        let client = try RawClient(to: sidecar.bearerd.admin)
        try client.send(
            "POST", "/api/identities/default/session", [("X-Bearerd-Admin", "1")],
            body:
                #"{"kind":"code","code":"c","redirect_uri":"http://127.0.0.1/","code_verifier":"v","nonce":"n"}"#
        )
        try provider.request(1)
        sidecar.bearerd.process.signal(SIGTERM)
        try sidecar.bearerd.logLine("the wait") {
            $0.message == "draining: waiting for token requests, and for storing what they bring"
        }
        gate.open()
        #expect(try sidecar.bearerd.process.waitForEnd() == .exited(0))
        #expect(sidecar.storedSession.contains(try #require(provider.latestRefreshToken)))
    }
}

@Suite(.blocking, .needs(.redis))
struct `A fleet's session that is in memory alone when the end comes` {
    /// How Redis takes nothing any more.
    enum Outage: CaseIterable {
        case gone, frozen, refusing, forbidding
    }

    @Test(arguments: Outage.allCases) func `is stored when Redis takes it before the grace ends`(
        outage: Outage
    ) throws {
        let fleet = try Fleet()
        let redis = fleet.redis
        try redis("ACL", "SETUSER", "keeper", "on", ">fake", "~*", "&*", "+@all")
        let daemon = try fleet.daemons(1)[0]
        redis.logIn("keeper", "fake")
        let gate = Gate()
        fleet.provider.script({ request, provider in provider.goodAnswer(to: request).held(by: gate) })
        let before = fleet.provider.requests.count
        let asking = try RawClient(to: daemon.bearerd.admin)
        try asking.send("POST", "/api/identities/default/refresh", [("X-Bearerd-Admin", "1")], body: "")
        try fleet.provider.request(before + 1)
        switch outage {
        case .gone: try redis.kill()
        case .frozen: redis.signal(SIGSTOP)
        case .refusing: try redis("CONFIG", "SET", "min-replicas-to-write", "1")
        case .forbidding: try redis("ACL", "SETUSER", "default", "-set", "-eval", "-evalsha")
        }
        gate.open()
        try eventually("the rotation to be in memory") {
            try daemon.metrics().sum("bearerd_store_write_failures_total") > 0
        }
        let newest = try #require(fleet.provider.latestRefreshToken)
        daemon.bearerd.process.signal(SIGTERM)
        try daemon.bearerd.logLine("the wait") {
            $0.message == "draining: waiting for the store to take a session that is in memory alone"
                && $0["identity"] == "default"
        }
        switch outage {
        case .gone: try redis.start()
        case .frozen: redis.signal(SIGCONT)
        case .refusing: try redis("CONFIG", "SET", "min-replicas-to-write", "0")
        case .forbidding: try redis("ACL", "SETUSER", "default", "+set", "+eval", "+evalsha")
        }
        #expect(try daemon.bearerd.process.waitForEnd() == .exited(0))
        let next = try fleet.daemon()
        try eventually("the session to go on") { try next.get().status == 200 }
        #expect(try next.act("refresh").status < 300)
        #expect(fleet.shown.last == newest && Set(fleet.shown).count == fleet.shown.count)
    }
}
