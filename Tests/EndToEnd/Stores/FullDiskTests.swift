// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What becomes of rotated refresh tokens that the store has no room for.
@Suite(.blocking) struct `A full disk` {
    @Test(.needs(.smallDisk))
    func `loses no session, and is written to when there is room again`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        let upstream = try RawUpstream()
        let secret = "secret-" + randomText()
        let sidecar = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: secret)
        try sidecar.awaitToken()
        disk.fill()

        for _ in 0..<3 {
            #expect(try sidecar.act("refresh").status < 300)
            #expect(try sidecar.get().status == 200)
        }
        #expect(Set(upstream.tokens).count == 3)
        let newest = try #require(provider.latestRefreshToken)
        #expect(!disk.everything.contains(newest))
        try sidecar.bearerd.logLine("a word on the disk") { line in
            ["warning", "error"].contains(line["level"]) && "\(line.json)".contains("stor")
        }
        try Self.checkWarnings(of: sidecar)
        disk.makeRoom()
        try eventually("the write to be tried again") {
            disk.everything.contains(newest)
        }
        try sidecar.bearerd.kill()
        let next = try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: secret)
        try next.act("refresh")
        #expect(provider.requests.last?["refresh_token"] == newest)
        #expect(try next.get().status == 200)
    }

    /// Page, status and doctor say what a restart would lose, though the token is a good one.
    private static func checkWarnings(of sidecar: Sidecar) throws {
        let page = try sidecar.admin("GET", "/").text
        #expect(
            page.contains("Not kept:</strong> a restart would lose the newest session of default"), "\(page)")
        #expect(!page.contains("All is well"))
        #expect(page.contains("<title>✕ bearerd: something fails"))
        let file = try sidecar.directory.fileAsking(sidecar.bearerd.admin)
        let status = try BearerdProcess.command("status", "-c", file)
        #expect(status.output.contains("not kept: default: a restart would lose"), "\(status)")
        let doctor = try BearerdProcess.command("doctor", "-c", file)
        #expect(doctor.exit == 69 && !doctor.output.contains("all is well"), "\(doctor)")
        #expect(
            doctor.output.contains("fail  default            authorized: ")
                && doctor.output.contains("a restart would lose the newest session"), "\(doctor)")
        #expect(doctor.output.contains("next: make room on that disk: df "), "\(doctor)")
    }

    @Test(.needs(.smallDisk))
    func `is told as what it is where a restart would lose nothing`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let sidecar = try Sidecar(directory: directory)
        try sidecar.awaitToken()
        disk.fill()
        #expect(try sidecar.act("refresh").status < 300)
        #expect(try sidecar.get().status == 200)
        let status = try sidecar.identityStatus()
        #expect(
            status["goes_on_from_memory"] == .bool(true) && status["only_in_memory"] == .null, "\(status)")
        let page = try sidecar.admin("GET", "/").text
        #expect(
            page.contains("Not stored:</strong> the store takes no writes, and default goes on from memory"))
        #expect(!page.contains("no request gets one after that") && page.contains("<title>▲ bearerd"))
        let file = try sidecar.directory.fileAsking(sidecar.bearerd.admin)
        let told = try BearerdProcess.command("status", "-c", file)
        #expect(
            told.output.contains("not stored: default: the store takes no writes; it goes on from memory"),
            "\(told)")
        let doctor = try BearerdProcess.command("doctor", "-c", file)
        #expect(
            doctor.exit == 69 && doctor.output.contains("warn  default            authorized: "), "\(doctor)")
        #expect(
            doctor.output.contains("next: make room on that disk: df \(directory.path("store"))"), "\(doctor)"
        )
    }

    @Test(.needs(.smallDisk))
    func `is named by commands that cannot have what it takes`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let sidecar = try Sidecar.importing(directory: directory, top: "timeouts: {token_wait: 100ms}")
        disk.fill()
        #expect(try sidecar.act("refresh").status < 300)
        let file = directory.path("config.yaml")
        let remedy = "No space left on device; make room on that disk"
        let refresh = try BearerdProcess.command("refresh", "-c", file)
        #expect(refresh.exit != 0 && refresh.errors.contains(remedy), "\(refresh)")
        #expect(refresh.errors.contains(directory.path("store")), "\(refresh)")
    }

    @Test(.needs(.smallDisk), arguments: ["POST", "logout", "logout --local"])
    func `lets a session be ended for good`(way: String) throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let sidecar = try Sidecar.importing(directory: directory)
        let tokens = [
            try #require(sidecar.provider.latestRefreshToken),
            try #require(sidecar.provider.accessTokens.last),
        ]
        #expect(tokens.allSatisfy(disk.everything.contains))
        disk.fill()
        if way == "POST" {
            let answer = try sidecar.act("logout")
            #expect(answer.status == 200 && answer.json["store"] == .null, "\(answer.text)")
        } else {
            let file = directory.path("config.yaml")
            let result =
                try way == "logout"
                ? BearerdProcess.command("logout", "-c", file)
                : BearerdProcess.command("logout", "--local", "-c", file)
            #expect(result.exit == 0 && result.errors.contains("logged out here"), "\(result)")
        }
        #expect(!tokens.contains(where: disk.everything.contains))
        try eventually("the logout to count") { try sidecar.state() == "login_required" }
        try sidecar.bearerd.kill()
        disk.makeRoom()

        let before = sidecar.provider.requests.count
        let next = try sidecar.another(.init(grant: "refresh_token"))
        #expect(try next.get().problem == "login_required")
        #expect(try next.state() == "login_required" && sidecar.provider.requests.count == before)
        #expect(!next.bearerd.log.contains("damaged"))
    }

    /// A login that waits for room on a full disk.
    private final class WaitingLogin {
        let provider: HostileProvider
        let login: Subprocess
        private let directory: TemporaryDirectory
        private let disk: SmallDisk

        /// - Parameter overSession: true if the store holds a session.
        init(overSession: Bool, _ revocation: @escaping @Sendable (RawRequest) -> Reply) throws {
            directory = try TemporaryDirectory()
            disk = try SmallDisk(at: directory.path("store"))
            provider = try HostileProvider()
            provider.setPolicy { $0.givesRefreshTokens = true }
            provider.serve("POST", "/device") { _ in
                .json(
                    #"{"device_code":"dc","user_code":"AB","verification_uri":"https://sso.example/d","interval":1}"#
                )
            }
            provider.serve("POST", "/revocation", revocation)
            let file = try directory.write(
                "config.yaml",
                """
                identities:
                  default:
                    token_endpoint: \(provider.tokenEndpoint)
                    device_authorization_endpoint: \(provider.issuer)/device
                    revocation_endpoint: \(provider.issuer)/revocation
                    client_id: app
                    grant_type: device_code
                    scope: api
                routes: [{upstream: 'http://127.0.0.1:2', identity: default}]
                store: {directory: store}
                """)
            if overSession {
                let login = try BearerdProcess.command("login", "--device", "-c", file)
                #expect(login.exit == 0, "\(login)")
            }
            disk.fill()
            login = try Subprocess([BearerdProcess.binary, "login", "--device", "-c", file])
            try login.errors.wait(for: "the wait") { capture in
                capture.text.contains("stored as soon as that works, in 5 min at most; Ctrl-C gives it up")
                    ? () : nil
            }
        }
    }

    /// To revoke a login may end the session before it, which is the store's and the daemon's.
    @Test(.needs(.smallDisk), arguments: [false, true])
    func `has a login say that it waits, and revoke what it brought when it is given up`(
        overSession: Bool
    ) throws {
        let scene = try WaitingLogin(overSession: overSession) { _ in .response(200) }
        scene.login.signal(SIGINT)
        #expect(try scene.login.waitForEnd() == .exited(74))
        let newest = try #require(scene.provider.latestRefreshToken)
        let revoked = scene.provider.requests("POST", "/revocation").map { $0["token"] }
        let words = "what the login brought " + (overSession ? "stays at the provider" : "is revoked")
        scene.login.errors.withLock { #expect($0.text.contains(words), "\($0.text)") }
        if overSession {
            #expect(revoked.isEmpty)
        } else {
            #expect(revoked.contains(newest) && revoked.contains(scene.provider.accessTokens.last))
        }
    }

    @Test(.needs(.smallDisk))
    func `has a login that is given up end at once at a second signal`() throws {
        let (asked, gate) = (Gate(), Gate())
        defer { gate.open() }
        let scene = try WaitingLogin(overSession: false) { _ in
            asked.open()
            return .response(200).held(by: gate)
        }
        scene.login.signal(SIGINT)
        try asked.pass()
        scene.login.signal(SIGINT)
        #expect(try scene.login.waitForEnd() == .exited(1))
        scene.login.errors.withLock {
            #expect(
                $0.text.contains("what the login brought may be stored, or stay at the provider"),
                "\($0.text)")
        }
    }

    @Test(.needs(.smallDisk))
    func `makes no daemon send the refresh token that another one has spent`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let first = try Sidecar.importing(directory: directory)
        let provider = first.provider
        let second = try first.peer()
        disk.fill()
        #expect(try first.act("refresh").status < 300)
        let newest = try #require(provider.latestRefreshToken)
        #expect(!disk.everything.contains(newest))

        // The provider takes a second use of the token for a theft.
        let before = provider.requests.count
        startThread { _ = try? second.act("refresh") }
        try eventually("the second to say why it waits") { try second.lastError() == "store_busy" }
        #expect(try second.lastErrorDetail().contains("keeps the store's lock"))
        #expect(provider.requests.count == before)
        // Both go on with what they have, and the first one with its session.
        #expect(try first.get().status == 200 && second.get().status == 200)
        #expect(try first.act("refresh").status < 300)
        #expect(try first.get().status == 200)

        disk.makeRoom()
        let written = try #require(provider.latestRefreshToken)
        try eventually("the write") { disk.everything.contains(written) }
        try eventually("the second to have what the first has") {
            let isAdopted =
                try second.get().status == 200 && first.upstream.tokens.last == provider.accessTokens.last
            return try isAdopted && second.lastError() == nil
        }
        #expect(try second.act("refresh").status < 300)
        #expect(try first.act("refresh").status < 300)
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count, "no refresh token is sent twice")
    }

    @Test(.needs(.smallDisk))
    func `keeps nobody from logging out, of the session that others have too`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let first = try Sidecar.importing(directory: directory)
        let provider = first.provider
        let second = try first.peer()
        disk.fill()
        #expect(try first.act("refresh").status < 300)
        try first.act("logout")
        #expect(try first.state() == "login_required" && first.lastError() == nil)
        try eventually("the logout to be stored") { try second.state() == "login_required" }
        disk.makeRoom()
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count, "no refresh token is sent twice")
    }

    @Test(
        .needs(.smallDisk),
        arguments: ["refresh_margin: 20s", "scope: other", nil])
    func `keeps others from the spent token when a reload changes the identity or takes it away`(
        change: String?
    ) throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let top = "timeouts: {token_wait: 100ms}\nlog: {level: debug}"
        let first = try Sidecar.importing(directory: directory, top: top)
        let provider = first.provider
        let second = try first.peer()
        disk.fill()
        #expect(try first.act("refresh").status < 300)

        var text = Sidecar.configuration(
            provider: provider, upstream: first.upstream.url, clientSecret: first.clientSecret,
            directory: directory, .init(top: top, identity: change ?? "", grant: "refresh_token"))
        if change == nil {
            text = text.replacing("\n  default:\n", with: "\n  another:\n")
                .replacing("    identity: default\n", with: "    identity: another\n")
        }
        try directory.write("config.yaml", text)
        let reload = try first.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        #expect(reload.status == 200, "\(reload.text)")
        let ended = "a session of an earlier configuration has ended"
        if change != nil { try first.bearerd.logLine("the old session's end") { $0.message == ended } }
        // The provider takes a second use of a token for a theft.
        startThread { _ = try? second.act("refresh") }
        try eventually("the second to say why it waits") { try second.lastError() == "store_busy" }
        if change != nil { #expect(try first.get().status == 200) }
        #expect(try second.get().status == 200)

        disk.makeRoom()
        let newest = try #require(provider.latestRefreshToken)
        try eventually("the write") { disk.everything.contains(newest) }
        if change == nil { try first.bearerd.logLine("the old session's end") { $0.message == ended } }
        #expect(try second.act("refresh").status < 300)
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count, "no refresh token is sent twice")
    }

    @Test(.needs(.smallDisk))
    func `keeps nobody out for longer than its daemon lives`() throws {
        let directory = try TemporaryDirectory()
        let disk = try SmallDisk(at: directory.path("store"))
        let first = try Sidecar.importing(directory: directory)
        let second = try first.peer()
        disk.fill()
        #expect(try first.act("refresh").status < 300)
        startThread { _ = try? second.act("refresh") }
        try eventually("the second to wait") { try second.lastError() == "store_busy" }
        let before = first.provider.requests.count
        try first.bearerd.kill()
        try first.provider.request(before + 1)
    }
}
