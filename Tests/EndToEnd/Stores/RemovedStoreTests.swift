// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Commands where somebody has removed `store.directory` under a daemon, which alone has the session by then.
@Suite(.blocking) struct `With a store that was removed` {
    /// A session, and the daemon that has it alone.
    private func orphaned() throws -> (session: ImportedSession, daemon: BearerdProcess) {
        let session = try ImportedSession(admin: try Socket.refusing().address)
        try session.begin()
        let daemon = try BearerdProcess(arguments: ["run", "-c", session.configuration])
        try eventually("a token") {
            try RawClient(to: daemon.admin).request("GET", "/readyz").status == 200
        }
        _ = try Subprocess.run(["/bin/rm", "-r", session.directory.path("store")])
        return (session, daemon)
    }

    private func state(of daemon: BearerdProcess) throws -> String? {
        try RawClient(to: daemon.admin).request("GET", "/api/status").json["identities"][0]["state"].string
    }

    @Test(arguments: [["revoke"], ["logout", "--no-browser"]])
    func `the daemon's tokens are revoked once there is a directory again`(command: [String]) throws {
        let (session, daemon) = try orphaned()
        let known = [session.provider.latestRefreshToken, session.provider.accessTokens.last]
        let early = try BearerdProcess.command(command + ["-c", session.configuration])
        #expect(early.exit == 74 && early.errors.contains("mkdir -m 700"), "\(early)")
        _ = try Subprocess.run(["/bin/mkdir", "-m", "700", session.directory.path("store")])
        let result = try Subprocess.run([BearerdProcess.binary] + command + ["-c", session.configuration])
        #expect(result.ending == .exited(0), "\(result)")
        #expect(session.provider.requests("POST", "/revocation").map { $0["token"] } == known)
        #expect(!result.output.contains("nothing"))
        try eventually("the daemon to have no session") { try state(of: daemon) == "login_required" }
        let again = try session.command("revoke")
        #expect(again.exit == 0 && again.output.contains("nothing"), "\(again)")
    }

    @Test func `a logout is told where only the store's own would do`() throws {
        let (session, daemon) = try orphaned()
        let result = try session.command("logout", "--post-logout-redirect-uri", "app:/bye")
        #expect(result.exit == 74 && result.errors.contains("put it back"), "\(result)")
        #expect(try state(of: daemon) == "authorized")
        #expect(try session.command("logout", "--local").exit == 74, "it counts, and is not stored")
        try eventually("the daemon to have no session") { try state(of: daemon) == "login_required" }
        #expect(session.provider.requests("POST", "/revocation").isEmpty)
    }

    @Test func `a refresh and the claims are the daemon's`() throws {
        let (session, daemon) = try orphaned()
        #expect(try session.command("userinfo").output.contains("A B"))
        let count = session.provider.accessTokens.count
        let refresh = try session.command("refresh")
        #expect(refresh.exit == 0, "\(refresh)")
        #expect(session.provider.accessTokens.count == count + 1)
        #expect(try state(of: daemon) == "authorized")
    }

    @Test func `no command makes it anew, so that it can be put back`() throws {
        let (session, daemon) = try orphaned()
        let token = try session.command("token")
        let store = session.directory.path("store")
        #expect(token.exit == 74 && token.errors.contains("\(store) is not there"), "\(token)")
        for (command, code) in [("userinfo", 0), ("refresh", 0), ("revoke", 74), ("logout", 74)] {
            let done = try BearerdProcess.command(command, "-c", session.configuration)
            #expect(done.exit == code, "\(command): \(done)")
        }
        #expect(TemporaryDirectory.mode(of: store) == nil)
        withExtendedLifetime(daemon) {}
    }

    @Test func `a daemon that runs by another file is left alone`() throws {
        let (session, daemon) = try orphaned()
        let text = String(decoding: TemporaryDirectory.contents(of: session.configuration), as: UTF8.self)
        let other = try session.directory.write(
            "other.yaml",
            text.replacing(session.directory.path("store"), with: session.directory.path("elsewhere")))
        for command in ["revoke", "logout"] {
            #expect(try BearerdProcess.command(command, "-c", other).exit == 0, "\(command)")
        }
        #expect(session.provider.requests("POST", "/revocation").isEmpty)
        #expect(try state(of: daemon) == "authorized")
    }

    @Test func `nobody is asked where no daemon runs`() throws {
        let session = try ImportedSession(admin: try Socket.refusing().address)
        let revoke = try session.command("revoke")
        #expect(revoke.exit == 0 && revoke.output.contains("nothing"), "\(revoke)")
        #expect(try session.command("logout").exit == 0)
        #expect(try session.command("refresh").exit == 77)
    }
}
