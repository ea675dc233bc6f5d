// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A store whose directory is moved, replaced, removed or no longer to be written while daemons use it.
@Suite(.blocking) struct `A store's directory` {
    /// Waits until every token that there is now has expired, and daemons have fetched others.
    private static func awaitRefreshes(of sidecars: Sidecar...) throws {
        let provider = sidecars[0].provider
        let before = provider.requests.count
        try eventually("further refreshes") { provider.requests.count >= before + 2 }
        for sidecar in sidecars {
            try eventually("a token") {
                try sidecar.get().status == 200 && sidecar.admin("GET", "/readyz").status == 200
            }
        }
        expectNoneTwice(provider)
    }

    private static func expectNoneTwice(_ provider: HostileProvider) {
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count, "no refresh token is sent twice")
        #expect(!provider.requests.contains { $0.grant != "refresh_token" })
    }

    private static func awaitTrouble(_ words: String, _ sidecar: Sidecar) throws {
        try eventually("the trouble to be told") {
            try sidecar.lastError() == "store_unavailable" && sidecar.lastErrorDetail().contains(words)
        }
    }

    private static func awaitNewest(in sidecar: Sidecar) throws {
        try eventually("the newest session to be stored") {
            sidecar.provider.latestRefreshToken.map(sidecar.storedSession.contains) ?? false
        }
    }

    @Test func `moved away goes on being used, by all who have it`() throws {
        let sidecar = try Sidecar.importing(expiresIn: "4")
        let peer = try sidecar.peer()
        let store = sidecar.storeDirectory
        rename(store, store + ".moved")
        try Self.awaitTrouble("is gone", sidecar)
        try Self.awaitRefreshes(of: sidecar, peer)
        let moved = TemporaryDirectory.contents(of: store + ".moved/default.session")
        #expect(moved != [] && !TemporaryDirectory.entries(of: sidecar.directory.path).contains("store"))
        rename(store + ".moved", store)
        try eventually("all to be well") { try sidecar.lastError() == nil && peer.lastError() == nil }
        try Self.awaitRefreshes(of: sidecar, peer)
        try Self.awaitNewest(in: sidecar)
    }

    @Test(arguments: [true, false])
    func `replaced is followed by all, with what is newest`(isEmpty: Bool) throws {
        let sidecar = try Sidecar.importing(expiresIn: "4")
        let peer = try sidecar.peer()
        let store = sidecar.storeDirectory
        if isEmpty {
            mkdir(store + ".new", 0o700)
        } else {
            _ = try Subprocess.run(["/bin/cp", "-a", store, store + ".new"])
            try Self.awaitRefreshes(of: sidecar, peer)
        }
        rename(store, store + ".old")
        rename(store + ".new", store)
        try Self.awaitRefreshes(of: sidecar, peer)
        sidecar.provider.setPolicy { $0.expiresIn = "300" }
        try eventually("a lasting token") { try sidecar.act("refresh").status < 300 }
        try Self.awaitNewest(in: sidecar)
        #expect(try sidecar.lastError() == nil)
    }

    @Test func `removed is done without by who has it alone, and filled again`() throws {
        let sidecar = try Sidecar.importing(expiresIn: "4")
        let store = sidecar.storeDirectory
        _ = try Subprocess.run(["/bin/rm", "-rf", store])
        try Self.awaitTrouble("is gone", sidecar)
        try Self.awaitRefreshes(of: sidecar)
        sidecar.provider.setPolicy { $0.expiresIn = "300" }
        mkdir(store, 0o700)
        try Self.awaitNewest(in: sidecar)
        try eventually("all to be well") { try sidecar.lastError() == nil }
        Self.expectNoneTwice(sidecar.provider)
    }

    @Test func `replaced by what cannot be used is told, and the one before is used`() throws {
        let sidecar = try Sidecar.importing(expiresIn: "4")
        let store = sidecar.storeDirectory
        rename(store, store + ".old")
        mkdir(store, 0o755)
        chmod(store, 0o755)
        try Self.awaitTrouble("mode 0755", sidecar)
        try Self.awaitRefreshes(of: sidecar)
        #expect(TemporaryDirectory.entries(of: store).isEmpty)
        chmod(store, 0o700)
        try Self.awaitNewest(in: sidecar)
    }

    @Test func `that may not be written any more is read, and its lock is kept`() throws {
        let directory = try TemporaryDirectory()
        let store = directory.path("store")
        mkdir(store, 0o700)
        func mount(_ options: String...) throws -> Bool {
            try Subprocess.run(["/usr/bin/mount"] + options + [store]).ending == .exited(0)
        }
        guard try mount("-t", "tmpfs", "-o", "mode=0700", "tmpfs") else { return }
        defer { _ = try? Subprocess.run(["/usr/bin/umount", "-l", store]) }
        let sidecar = try Sidecar.importing(directory: directory, expiresIn: "4")
        guard try mount("-o", "remount,ro") else { return }
        try Self.awaitTrouble("Read-only file system", sidecar)
        try Self.awaitRefreshes(of: sidecar)
        #expect(try mount("-o", "remount,rw"))
        sidecar.provider.setPolicy { $0.expiresIn = "300" }
        try eventually("a lasting token") { try sidecar.act("refresh").status < 300 }
        try Self.awaitNewest(in: sidecar)
    }

    @Test func `that nobody may write to ends a start with what to do`() throws {
        let directory = try TemporaryDirectory()
        let place = directory.path("place")
        mkdir(place, 0o755)
        let mount = ["/usr/bin/mount", "-t", "tmpfs", "-o", "ro", "tmpfs", place]
        guard try Subprocess.run(mount).ending == .exited(0) else { return }
        defer { _ = try? Subprocess.run(["/usr/bin/umount", "-l", place]) }
        let file = try Sidecar.file(
            provider: try HostileProvider(), directory: directory,
            .init(store: "type: file\ndirectory: \(place)/store"))
        let result = try BearerdProcess.command("run", "-c", file)
        #expect(
            result.exit == 77
                && result.errors.contains(
                    "Read-only file system; nobody may write there: mount a volume that is writable, or name another directory"
                ), "\(result)")
    }

    @Test func `replaced by an older copy or an empty directory is written again`() throws {
        let sidecar = try Sidecar.importing()
        let store = sidecar.storeDirectory
        _ = try Subprocess.run(["/bin/cp", "-a", store, store + ".backup"])
        #expect(try sidecar.act("refresh").status < 300)
        let newest = try #require(sidecar.provider.latestRefreshToken)
        rename(store, store + ".old")
        rename(store + ".backup", store)
        try eventually("the newest session over the older one") { sidecar.storedSession.contains(newest) }
        rename(store, store + ".older")
        try eventually("the loss to be told") { try sidecar.lastError() == "store_unavailable" }
        #expect(try sidecar.identityStatus()["last_error"]["detail"].string?.contains("is gone") == true)
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
        #expect(try sidecar.get().status == 200)
        mkdir(store, 0o700)
        try eventually("the session in the new one") { sidecar.storedSession.contains(newest) }
        #expect(try sidecar.act("refresh").status < 300)
        #expect(try sidecar.lastError() == nil)
        #expect(!sidecar.provider.requests.contains { $0.grant != "refresh_token" })
    }

    @Test(arguments: [true, false])
    func `replaced where the sandbox cannot follow says so, and that a restart helps`(isEmpty: Bool) throws {
        let directory = try TemporaryDirectory()
        chmod(directory.path, 0o755)
        let sidecar = try Sidecar.importing(directory: directory, expiresIn: "4")
        guard sidecar.bearerd.logLines.contains(where: { $0.message == "sandboxed" }) else { return }
        let peer = try sidecar.peer()
        let store = sidecar.storeDirectory
        rename(store, store + ".old")
        if isEmpty {
            mkdir(store, 0o700)
        } else {
            // What is in it can be read and locked, and not be written.
            _ = try Subprocess.run(["/bin/cp", "-a", store + ".old", store])
        }
        try eventually("what happened to be told, and what to do") {
            let detail = try sidecar.lastErrorDetail()
            return detail.contains("was replaced") && detail.contains("restart")
        }
        try Self.awaitRefreshes(of: sidecar, peer)
        #expect(try sidecar.lastError() == "store_unavailable")
        rename(store, store + ".useless")
        rename(store + ".old", store)
        try eventually("all to be well") { try sidecar.lastError() == nil }
        sidecar.provider.setPolicy { $0.expiresIn = "300" }
        #expect(try sidecar.act("refresh").status < 300)
        let newest = try #require(sidecar.provider.latestRefreshToken)
        #expect(sidecar.storedSession.contains(newest))
    }

    /// A daemon of a user in a directory that everybody may read, whose store is removed; root may be that user.
    private func removed(
        asRoot isRoot: Bool
    ) throws -> (bearerd: BearerdProcess, directory: TemporaryDirectory) {
        let provider = try HostileProvider()
        let directory = try TemporaryDirectory()
        let secret = try directory.write("token", provider.makeRefreshToken())
        let file = try Sidecar.file(
            provider: provider, directory: directory,
            .init(top: "shutdown: {grace: 3s}", grant: "refresh_token"))
        chmod(directory.path, 0o755)
        var launcher: [String] = []
        if !isRoot {
            for path in [directory.path, secret, file] { chown(path, Stranger.user, Stranger.user) }
            launcher = Stranger.launcher ?? []
        }
        let imported = try Subprocess.run(
            launcher + [BearerdProcess.binary, "import", "--refresh-token", secret, "-c", file])
        guard imported.ending == .exited(0) else { throw WireError(imported.errors) }
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file], launcher: launcher)
        try eventually("a token") { try RawClient(to: bearerd.proxy).request("GET", "/").status == 502 }
        _ = try Subprocess.run(["/bin/rm", "-rf", directory.path("store")])
        return (bearerd, directory)
    }

    @Test(.enabled(if: Stranger.launcher != nil, "the binary is out of others' reach"))
    func `removed and made anew is filled again in the sandbox of who is not root`() throws {
        let (bearerd, directory) = try removed(asRoot: false)
        try bearerd.logLine("what to do") { $0["reason"]?.contains("which is filled again") == true }
        let store = directory.path("store")
        mkdir(store, 0o700)
        chown(store, Stranger.user, Stranger.user)
        try eventually("the session") {
            !TemporaryDirectory.contents(of: store + "/default.session").isEmpty
        }
        #expect(try bearerd.terminate() == .exited(0))
    }

    @Test(.needs(.root))
    func `removed where the sandbox cannot follow says so, and the end names what is lost`() throws {
        let (bearerd, directory) = try removed(asRoot: true)
        guard bearerd.logLines.contains(where: { $0.message == "sandboxed" }) else { return }
        try bearerd.logLine("what to do") { $0["reason"]?.contains("begin the session anew") == true }
        mkdir(directory.path("store"), 0o700)
        #expect(try bearerd.terminate() == .exited(1))
        try bearerd.logLine("the loss") { $0.message.hasPrefix("a session is lost") }
    }

    @Test(.needs(.root), .enabled(if: Stranger.launcher != nil, "the binary is out of others' reach"))
    func `of the daemon's own user is not doubled by root, whose commands go to that daemon`() throws {
        let (provider, directory) = (try HostileProvider(), try TemporaryDirectory())
        let token = try directory.write("token", provider.makeRefreshToken())
        let file = try Sidecar.file(
            provider: provider, directory: directory,
            .init(
                adminListen: "unix:\(directory.path("admin"))", admin: "owner: \(Stranger.user)",
                grant: "refresh_token"))
        // Root reads no configuration that is another user's.
        for path in [directory.path, token] { chown(path, Stranger.user, Stranger.user) }
        chmod(file, 0o644)
        let launcher = try #require(Stranger.launcher)
        let imported = try Subprocess.run(
            launcher + [BearerdProcess.binary, "import", "--refresh-token", token, "-c", file])
        #expect(imported.ending == .exited(0), "\(imported.errors)")
        let bearerd = try BearerdProcess(arguments: ["run", "-c", file], launcher: launcher)
        try eventually("a token") { try RawClient(to: bearerd.proxy).request("GET", "/").status == 502 }

        let count = provider.requests.count
        let refreshed = try BearerdProcess.command("refresh", "-c", file)
        #expect(refreshed.exit == 0 && provider.requests.count == count + 1, "\(refreshed)")
        let doctor = try BearerdProcess.command("doctor", "--check", "store", "-c", file)
        #expect(doctor.exit == 0 && doctor.output.contains("belongs to user \(Stranger.user)"), "\(doctor)")
        let shown = try BearerdProcess.command("token", "-c", file)
        #expect(shown.exit == 77 && shown.errors.contains("is not ours"), "\(shown)")
        let newer = provider.makeRefreshToken()
        let again = try directory.write("again", newer)
        #expect(try BearerdProcess.command("import", "--refresh-token", again, "-c", file).exit == 0)
        try eventually("the daemon to have what was imported") {
            provider.requests.contains { $0["refresh_token"] == newer }
        }
        #expect(try BearerdProcess.command("logout", "--local", "-c", file).exit == 0)
        #expect(try RawClient(to: bearerd.proxy).request("GET", "/").status == 503)
        #expect(!TemporaryDirectory.entries(of: directory.path("store")).contains("bearerd"))
        #expect(try bearerd.terminate() == .exited(0))
    }
}
