// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// A store that cannot be read, is replaced, or whose lock somebody keeps; and processes that stand still.
@Suite(.blocking) struct `A store with faults` {
    /// Lets time pass that nothing else tells of.
    private static func pass(seconds: Int) throws {
        _ = try Subprocess.run(["/bin/sleep", "\(seconds)"])
    }

    @Test func `that could not be read is read again by itself, and it is no login that is missing`() throws {
        let sidecar = try Sidecar.importing(isBegun: false)
        let file = sidecar.storeDirectory + "/default.session"
        // Reading a directory fails as a broken disk does.
        mkdir(file, 0o700)
        try eventually("the failure to be told") { try sidecar.lastError() == "store_unavailable" }
        let refused = try sidecar.get()
        #expect(refused.status == 503 && refused.problem == "idp_unavailable", "\(refused.text)")
        #expect(try sidecar.state() == "idp_unavailable")
        #expect(!sidecar.bearerd.log.contains("from memory"))
        let told = sidecar.bearerd.logLines.filter { $0.message.contains("cannot be read") }
        #expect(told.count == 1)

        let other = try TemporaryDirectory()
        let elsewhere = try Sidecar(
            provider: sidecar.provider, directory: other, clientSecret: sidecar.clientSecret,
            .init(grant: "refresh_token"))
        try elsewhere.importSession()
        #expect(try elsewhere.bearerd.terminate() == .exited(0))
        rmdir(file)
        rename(elsewhere.storeDirectory + "/default.session", file)
        try eventually("a token") { try sidecar.get().status == 200 }
        #expect(try sidecar.lastError() == nil)
    }

    @Test func `that cannot be read spends no refresh token, and a token that is valid is used`() throws {
        let sidecar = try Sidecar.importing()
        let file = sidecar.storeDirectory + "/default.session"
        let before = sidecar.provider.requests.count
        rename(file, file + ".aside")
        mkdir(file, 0o700)
        #expect(try sidecar.act("refresh").status == 503)
        #expect(try sidecar.lastError() == "store_unavailable")
        #expect(sidecar.provider.requests.count == before)
        #expect(try sidecar.get().status == 200)
        #expect(try sidecar.admin("GET", "/readyz").status == 200)
        let command = try BearerdProcess.command("status", "-c", sidecar.directory.path("config.yaml"))
        #expect(command.output.contains("store_unavailable") || command.errors.contains("default.session"))
        rmdir(file)
        rename(file + ".aside", file)
        try eventually("a refresh") { try sidecar.act("refresh").status < 300 }
        #expect(sidecar.provider.requests.count == before + 1)
    }

    @Test func `that cannot be used holds no request, once that is known and there is no token`() throws {
        let provider = try HostileProvider()
        provider.setPolicy {
            $0.givesRefreshTokens = true
            $0.expiresIn = "2"
        }
        let sidecar = try Sidecar(provider: provider, .init(grant: "refresh_token"))
        try sidecar.importSession()
        try sidecar.awaitToken()
        chmod(sidecar.storeDirectory, 0o755)
        try eventually("the end of the token") { try sidecar.get().status == 503 }
        let start = ContinuousClock.now
        for _ in 0..<5 { #expect(try sidecar.get().status == 503) }
        #expect(ContinuousClock.now - start < .seconds(5), "each would wait ten seconds")
        chmod(sidecar.storeDirectory, 0o700)
        try eventually("a token") { try sidecar.get().status == 200 }
    }

    @Test func `a freeze longer than the time-out loses no answer that lies ready`() throws {
        let provider = try HostileProvider()
        let (arrived, frozen) = (Monitor(false), Monitor(false))
        let answered = Monitor(0)
        provider.script { request, provider in
            arrived.withLock { $0 = true }
            try frozen.wait(for: "the freeze") { $0 ? () : nil }
            defer { answered.withLock { $0 += 1 } }
            return provider.goodAnswer(to: request)
        }
        let sidecar = try Sidecar(provider: provider, .init(top: "timeouts:\n  token: 2s"))
        try arrived.wait(for: "the token request") { $0 ? () : nil }
        sidecar.bearerd.process.signal(SIGSTOP)
        frozen.withLock { $0 = true }
        try answered.wait(for: "the answer") { $0 > 0 ? () : nil }
        try Self.pass(seconds: 4)
        sidecar.bearerd.process.signal(SIGCONT)
        try sidecar.awaitToken()
        #expect(provider.requests.count == 1)
        #expect(try sidecar.get().status == 200)
    }

    @Test func `a daemon waits for a slow rotation beyond the time-out, and stores it`() throws {
        let sidecar = try Sidecar.importing(top: "timeouts:\n  token: 1s\n  token_wait: 1s")
        let provider = sidecar.provider
        let (arrived, released) = (Monitor(false), Monitor(false))
        provider.script { request, provider in
            arrived.withLock { $0 = true }
            try released.wait(for: "the release") { $0 ? () : nil }
            return provider.goodAnswer(to: request)
        }
        let before = provider.requests.count
        startThread { _ = try? sidecar.act("refresh") }
        try arrived.wait(for: "the rotation") { $0 ? () : nil }
        try Self.pass(seconds: 4)
        #expect(try sidecar.get().status == 200)
        released.withLock { $0 = true }
        try eventually("the rotated token in the store") {
            provider.latestRefreshToken.map { sidecar.storedSession.contains($0) } ?? false
        }
        #expect(provider.requests.count == before + 1)
    }

    @Test func `a frozen holder of the lock is named, and what it stores is adopted when it wakes`() throws {
        let directory = try TemporaryDirectory()
        let upstream = try RawUpstream()
        let first = try Sidecar.importing(directory: directory, upstream: upstream, expiresIn: "4")
        let provider = first.provider
        let second = try first.peer()
        let (arrived, released) = (Monitor(false), Monitor(false))
        provider.script { request, provider in
            arrived.withLock { $0 = true }
            try released.wait(for: "the release") { $0 ? () : nil }
            provider.setPolicy { $0.expiresIn = "300" }
            return provider.goodAnswer(to: request)
        }
        try arrived.wait(for: "a rotation") { $0 ? () : nil }
        // Whichever holds the lock now.
        let holder = TemporaryDirectory.contents(of: directory.path("store/default.session.lock"))
        let isFirst = String(decoding: holder, as: UTF8.self).hasPrefix("\(first.bearerd.process.processID) ")
        let (frozen, peer) = isFirst ? (first, second) : (second, first)
        frozen.bearerd.process.signal(SIGSTOP)
        try peer.bearerd.logLine("who holds the lock") { line in
            "\(line.json)".contains("process \(frozen.bearerd.process.processID) (bearerd), since 2")
        }
        try eventually("the token to expire") { try peer.get().status == 503 }
        #expect(try peer.lastError() == "store_busy")
        let refused = try peer.get()
        #expect(
            refused.problem == "idp_unavailable" && refused.text.contains("another process keeps its lock"),
            "\(refused.text)")
        released.withLock { $0 = true }
        frozen.bearerd.process.signal(SIGCONT)
        try eventually("the holder's token") { try peer.get().status == 200 }
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count, "no refresh token is sent twice")
    }

    @Test func `a session of a later version is refused as that, and comes back with it`() throws {
        let sidecar = try Sidecar.importing()
        #expect(try sidecar.bearerd.terminate() == .exited(0))
        let file = sidecar.storeDirectory + "/default.session"
        let whole = sidecar.storedSession
        let later = whole.replacing(#""version": 1"#, with: #""version": 2"#)
        #expect(later != whole)
        try sidecar.directory.write("store/default.session", later)
        chmod(file, 0o600)
        let again = try Sidecar(
            provider: sidecar.provider, directory: sidecar.directory, clientSecret: sidecar.clientSecret,
            .init(grant: "refresh_token"))
        let before = sidecar.provider.requests.count
        #expect(try again.get().problem == "idp_unavailable")
        #expect(try again.identityStatus()["last_error"]["detail"].string?.contains("later version") == true)
        let token = try BearerdProcess.command("token", "-c", sidecar.directory.path("config.yaml"))
        #expect(token.exit == 74 && token.errors.contains("later version"), "\(token.errors)")
        #expect(sidecar.storedSession == later && sidecar.provider.requests.count == before)
        #expect(!TemporaryDirectory.entries(of: sidecar.storeDirectory).contains { $0.contains("damaged") })
        try sidecar.directory.write("store/default.session", whole)
        try eventually("the session to be used") { try again.get().status == 200 }
    }

    @Test func `a session in plain text planted in an encrypted store is 77`() throws {
        let directory = try TemporaryDirectory()
        let plain = try Sidecar.importing(directory: directory)
        #expect(try plain.bearerd.terminate() == .exited(0))
        let planted = plain.storedSession
        let key = String(repeating: "0f", count: 32)
        let settings = Sidecar.Settings(
            store: "directory: \(directory.path("store"))\nencryption_key: '\(key)'", grant: "refresh_token")
        // From before there was a key: taken over.
        let sealed = try Sidecar(
            provider: plain.provider, directory: directory, clientSecret: plain.clientSecret, settings)
        try eventually("a token") { try sealed.get().status == 200 }
        #expect(try sealed.act("refresh").status < 300)
        #expect(try sealed.bearerd.terminate() == .exited(0))
        let file = directory.path("store/default.session")
        try directory.write("store/default.session", planted)
        chmod(file, 0o600)
        let before = plain.provider.requests.count
        let written = String(
            decoding: TemporaryDirectory.contents(of: directory.path("config.yaml")), as: UTF8.self)
        for command in ["run", "token", "login"] {
            if command == "login" {
                let person = written.replacing(
                    "grant_type: refresh_token", with: "grant_type: authorization_code")
                try directory.write("config.yaml", person)
            }
            let result = try BearerdProcess.command(command, "-c", directory.path("config.yaml"))
            #expect(result.exit == 77 && result.output.isEmpty, "\(result.errors)")
            #expect(result.errors.contains("bearerd import") && result.errors.contains(file))
        }
        #expect(plain.provider.requests.count == before && plain.storedSession == planted)
    }

    @Test func `a login waits for the lock, says who holds it, and loses nothing`() throws {
        let site = try LoginSite()
        let login = try site.start("login", "web", "--no-browser")
        let answer = try site.logIn(at: try site.firstLine(of: login))
        let holder = try Subprocess([
            "/usr/bin/flock", "--no-fork", site.directory.path("store/web.session.lock"), "/bin/sh", "-c",
            "echo held; exec sleep 600",
        ])
        try holder.output.wait(for: "the lock to be held") { $0.text.contains("held") ? () : nil }
        startThread { _ = try? browse(answer) }
        try login.errors.wait(for: "the holder's name") { capture in
            capture.text.contains("process \(holder.processID) (") ? () : nil
        }
        #expect(login.isRunning)
        holder.signal(SIGKILL)
        #expect(try login.waitForEnd() == .exited(0))
        try eventually("the daemon to have the session") {
            try site.status()["state"].string == "authorized"
        }
    }
}
