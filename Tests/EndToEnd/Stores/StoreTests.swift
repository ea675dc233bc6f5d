// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Glibc
import Testing

/// What is stored, when, and how it survives damage and a full disk.
@Suite(.blocking) struct `The store` {
    private func provider() throws -> HostileProvider {
        let provider = try HostileProvider()
        provider.setPolicy { $0.givesRefreshTokens = true }
        return provider
    }

    /// Every byte of every file in a directory.
    private static func everything(in directory: String) -> String {
        TemporaryDirectory.entries(of: directory).map { name in
            String(decoding: TemporaryDirectory.contents(of: "\(directory)/\(name)"), as: UTF8.self)
        }.joined()
    }

    @Test func `is a directory of our own with 0700, its files 0600`() throws {
        let sidecar = try Sidecar(provider: provider())
        try sidecar.awaitToken()
        try sidecar.act("refresh")
        #expect(TemporaryDirectory.mode(of: sidecar.storeDirectory) == 0o700)
        let names = TemporaryDirectory.entries(of: sidecar.storeDirectory)
        #expect(!names.isEmpty)
        for name in names {
            #expect(TemporaryDirectory.mode(of: "\(sidecar.storeDirectory)/\(name)") == 0o600, "\(name)")
        }
    }

    @Test func `refuses files with other modes`() throws {
        let directory = try TemporaryDirectory()
        let first = try Sidecar(provider: provider(), directory: directory)
        try first.awaitToken()
        #expect(try first.bearerd.terminate() == .exited(0))
        for name in TemporaryDirectory.entries(of: first.storeDirectory) {
            chmod("\(first.storeDirectory)/\(name)", 0o644)
        }
        let result = try BearerdProcess.command("run", "-c", directory.path("config.yaml"))
        #expect(result.exit == 77 && result.errors.contains(first.storeDirectory))
    }

    @Test func `has the rotated refresh token before the new access token is used`() throws {
        let stored = Monitor<[Bool]>([])
        let directory = try TemporaryDirectory()
        let provider = try provider()
        let upstream = try RawUpstream { _ in
            let newest = provider.latestRefreshToken ?? "none"
            let isThere = Self.everything(in: directory.path("store")).contains(newest)
            stored.withLock { $0.append(isThere) }
            return .ok()
        }
        let sidecar = try Sidecar(provider: provider, upstream: upstream, directory: directory)
        for _ in 0..<10 {
            #expect(try sidecar.get().status == 200)
            try sidecar.act("invalidate")
        }
        #expect(stored.withLock { $0 } == Array(repeating: true, count: 10))
    }

    @Test func `is written whole: a SIGKILL at any moment loses no refresh token that was used`() throws {
        let provider = try provider()
        let pairs = Monitor<[(access: String, refresh: String)]>([])
        // This provider forgives reuse, so that a loss shows as an old token and not as a refusal.
        provider.always { request, provider in
            let access = provider.makeAccessToken()
            let refresh = provider.makeRefreshToken()
            pairs.withLock { $0.append((access, refresh)) }
            return .json(
                #"{"access_token":"\#(access)","token_type":"Bearer","expires_in":300,"refresh_token":"\#(refresh)"}"#
            )
        }
        let upstream = try RawUpstream()
        let directory = try TemporaryDirectory()
        let secret = "secret-" + randomText()
        var used = -1
        for round in 0..<40 * Soak.factor {
            let sidecar = try Sidecar(
                provider: provider, upstream: upstream, directory: directory, clientSecret: secret)
            let before = provider.requests.count
            let churn = Background { () -> Int in
                var count = 0
                while (try? sidecar.act("invalidate")) != nil, (try? sidecar.get()) != nil { count += 1 }
                return count
            }
            let rotation = before + 1 + round % 4
            try provider.request(rotation)
            // Spin a little, so that the kill falls into another moment of the rotation each time.
            let moment = ContinuousClock.now + .microseconds(Int.random(in: 0...6000))
            while ContinuousClock.now < moment {}
            try sidecar.bearerd.kill()
            _ = try churn.value()

            let all = pairs.withLock { $0 }
            if before > 0 {
                let shown = provider.requests[before]["refresh_token"]
                let index = all.firstIndex { $0.refresh == shown } ?? -1
                #expect(index >= used, "round \(round): token \(index) shown after \(used) was used")
            }
            let seen = Set(upstream.tokens)
            used = max(used, all.lastIndex { seen.contains($0.access) } ?? -1)
            let shown = Set(provider.requests.compactMap { $0["refresh_token"] })
            used = max(used, all.lastIndex { shown.contains($0.refresh) } ?? -1)
        }
        #expect(used > 20)
    }

    @Test func `keeps a damaged file aside and starts`() throws {
        for damage in ["", "{", "\u{0}\u{1}\u{2}", #"{"version":0}"#, "[]"] {
            let directory = try TemporaryDirectory()
            let provider = try provider()
            let first = try Sidecar(provider: provider, directory: directory)
            try first.awaitToken()
            #expect(try first.bearerd.terminate() == .exited(0))
            let store = first.storeDirectory
            for name in TemporaryDirectory.entries(of: store) where !name.hasSuffix(".lock") {
                try directory.write("store/\(name)", damage)
            }
            let second = try Sidecar(provider: provider, directory: directory)
            #expect(try second.get().status == 200, "\(damage.debugDescription)")
            let kept = TemporaryDirectory.entries(of: store).filter { $0.contains(".damaged-") }
            #expect(!kept.isEmpty, "\(damage.debugDescription)")
            #expect(kept.allSatisfy { TemporaryDirectory.mode(of: "\(store)/\($0)") == 0o600 })
            try second.bearerd.logLine("a word on the damage") { line in
                ["warning", "error"].contains(line["level"]) && "\(line.json)".contains("damaged")
            }
        }
    }

    @Test func `doubts the refresh token of the generation before, where the newest is damaged`() throws {
        let provider = try HostileProvider()
        provider.setPolicy { $0.rotates = false }
        let first = try Sidecar(provider: provider, .init(grant: "refresh_token"))
        try first.importSession()
        try first.awaitToken()
        for _ in 0..<2 { #expect(try first.act("refresh").status < 300) }
        #expect(try first.bearerd.terminate() == .exited(0))
        try first.directory.write("store/default.session", "{")
        let requests = provider.requests.count
        let second = try first.another(.init(grant: "refresh_token"))
        #expect(try second.act("refresh").status < 300)
        try second.bearerd.logLine("the doubt") {
            $0["level"] == "warning" && $0.message.contains("it may be spent")
        }
        #expect(provider.requests.count == requests + 1)
    }

    @Test
    func
        `that holds a record of a later version is told as one that a grant from configuration does without`()
        throws
    {
        let sidecar = try Sidecar()
        try sidecar.awaitToken()
        try sidecar.directory.write("store/default.session", #"{"version":2,"identity":"default"}"#)
        try eventually("the trouble") { try sidecar.lastError() == "store_unavailable" }
        #expect(try sidecar.identityStatus()["goes_on_from_memory"] == .bool(true))
        #expect(try sidecar.act("refresh").status < 300)
        let file = try sidecar.directory.fileAsking(sidecar.bearerd.admin)
        let told = try BearerdProcess.command("status", "-c", file)
        #expect(told.output.contains("not stored: default: "), "\(told)")
        #expect(!told.output.contains("nothing is renewed"), "\(told)")
    }

    @Test func `is left as it is by status, which says what is wrong`() throws {
        let directory = try TemporaryDirectory()
        let sidecar = try Sidecar.ended(provider: provider(), in: directory)
        let file = directory.path("config.yaml")
        let whole = try BearerdProcess.command("status", "-c", file)
        #expect(whole.exit == 0 && whole.errors.isEmpty && whole.output.contains("authorized"), "\(whole)")
        try directory.write("store/default.session", "rubbish")
        let before = TemporaryDirectory.entries(of: sidecar.storeDirectory)
        for _ in 0..<2 {
            let result = try BearerdProcess.command("status", "--json", "-c", file)
            #expect(result.exit == 0)
            #expect(
                result.errors.contains("\(sidecar.storeDirectory)/default.session is damaged"), "\(result)")
            #expect(TestJSON(parsing: result.output)?["identities"].array.count == 1)
        }
        #expect(TemporaryDirectory.entries(of: sidecar.storeDirectory) == before)
        #expect(sidecar.storedSession == "rubbish")
        // What puts it aside says so too.
        let token = try BearerdProcess.command("token", "-c", file)
        #expect(token.exit == 0 && token.errors.contains("was put aside as"), "\(token)")
    }

    @Test func `is not made by who only looks`() throws {
        let sidecar = try Sidecar.ended(provider: provider())
        let text = String(
            decoding: TemporaryDirectory.contents(of: sidecar.directory.path("config.yaml")), as: UTF8.self)
        mkdir(sidecar.directory.path("shared"), 0o755)
        for place in ["nowhere", "shared"] {
            let file = try sidecar.directory.write(
                "other.yaml", text.replacing(sidecar.storeDirectory, with: sidecar.directory.path(place)))
            #expect(try BearerdProcess.command("status", "-c", file).exit == 0)
            _ = try BearerdProcess.command("doctor", "-c", file)
            #expect(TemporaryDirectory.entries(of: sidecar.directory.path(place)).isEmpty)
        }
        #expect(access(sidecar.directory.path("nowhere"), F_OK) != 0)
    }

    @Test func `encrypted shows nothing, and is refused with another key and left as it is`() throws {
        let directory = try TemporaryDirectory()
        let provider = try provider()
        let key = try directory.write("key", String(repeating: "0f", count: 32) + "\n")
        chmod(key, 0o600)
        let settings = Sidecar.Settings(
            store: "type: file\ndirectory: \(directory.path("store"))\nencryption_key_file: \(key)")
        let first = try Sidecar(provider: provider, directory: directory, settings)
        try first.awaitToken()
        try first.act("refresh")
        #expect(try first.bearerd.terminate() == .exited(0))
        let bytes = Self.everything(in: first.storeDirectory)
        for token in provider.handedOut { #expect(!bytes.contains(token)) }

        try directory.write("key", String(repeating: "1f", count: 32))
        for command in ["run", "token", "refresh"] {
            let result = try BearerdProcess.command(command, "-c", directory.path("config.yaml"))
            #expect(result.exit == 78)
            #expect(result.errors.contains("encrypted with another key"), "\(result.errors)")
        }
        #expect(Self.everything(in: first.storeDirectory) == bytes)

        try directory.write("key", String(repeating: "0F", count: 32))
        let newest = try #require(provider.latestRefreshToken)
        let second = try Sidecar(
            provider: provider, directory: directory, clientSecret: first.clientSecret, settings)
        #expect(try second.get().status == 200)
        try second.act("refresh")
        #expect(provider.requests.last?["refresh_token"] == newest)
    }

    @Test func `unencrypted before there was a key is encrypted at once`() throws {
        let directory = try TemporaryDirectory()
        let provider = try provider()
        let first = try Sidecar(provider: provider, directory: directory)
        try first.awaitToken()
        try first.act("refresh")
        #expect(try first.bearerd.terminate() == .exited(0))
        let newest = try #require(provider.latestRefreshToken)
        #expect(Self.everything(in: first.storeDirectory).contains(newest))
        let key = String(repeating: "0f", count: 32)
        let second = try Sidecar(
            provider: provider, directory: directory, clientSecret: first.clientSecret,
            .init(store: "directory: \(directory.path("store"))\nencryption_key: '\(key)'"))
        #expect(try second.get().status == 200)
        let bytes = Self.everything(in: first.storeDirectory)
        for token in provider.handedOut { #expect(!bytes.contains(token)) }
        try second.act("refresh")
        #expect(provider.requests.last?["refresh_token"] == newest)
    }

    @Test func `a memory store leaves nothing behind`() throws {
        let sidecar = try Sidecar(provider: provider(), .init(store: "type: memory"))
        #expect(try sidecar.get().status == 200)
        #expect(TemporaryDirectory.entries(of: sidecar.directory.path) == ["config.yaml"])
    }

    @Test func `is shared: what one process refreshes another one uses within a second`() throws {
        let provider = try provider()
        let one = try Sidecar(provider: provider)
        try one.awaitToken()
        let two = try one.another()
        #expect(try two.get().status == 200)
        #expect(provider.requests.count == 1)
        var refreshes = 0
        let isAdopted = try isOnce(within: .seconds(1.3)) { begin in
            try one.act("refresh")
            refreshes += 1
            let newest = try #require(provider.accessTokens.last)
            begin()
            try eventually("the newer token") {
                try two.get().status == 200 && one.upstream.tokens.last == newest
            }
        }
        #expect(isAdopted)
        #expect(provider.requests.count == 1 + refreshes)
    }

    @Test func `two processes that refresh at the same time never use one refresh token twice`() throws {
        let provider = try provider()
        provider.setPolicy { $0.expiresIn = "1" }
        let first = try Sidecar(provider: provider)
        let sidecars = [first, try first.another()]
        try provider.request(8)
        for sidecar in sidecars { #expect(try sidecar.get().status == 200) }
        let shown = provider.requests.compactMap { $0["refresh_token"] }
        #expect(Set(shown).count == shown.count)
        #expect(provider.requests.filter { $0.grant == "client_credentials" }.count <= 2)
    }

    @Test(arguments: [true, false])
    func `that has lost its files takes a session that somebody begins anew, and it is used`(
        isLoggedOut: Bool
    ) throws {
        let sidecar = try Sidecar(provider: provider(), .init(grant: "refresh_token"))
        try sidecar.importSession()
        try sidecar.awaitToken()
        for _ in 0..<3 { try sidecar.act("refresh") }
        if isLoggedOut {
            let result = try BearerdProcess.command(
                "logout", "--local", "-c", sidecar.directory.path("config.yaml"))
            #expect(result.exit == 0, "\(result.errors)")
            try eventually("the end of the session") { try sidecar.state() == "login_required" }
        }
        for name in TemporaryDirectory.entries(of: sidecar.storeDirectory) where !name.contains("lock") {
            unlink("\(sidecar.storeDirectory)/\(name)")
        }
        try sidecar.importSession()
        let imported = try #require(
            String(decoding: TemporaryDirectory.contents(of: sidecar.directory.path("token")), as: UTF8.self)
                .split(separator: "\n").first)
        try eventually("a refresh of the new session") {
            sidecar.provider.requests.contains { $0["refresh_token"] == String(imported) }
        }
        try eventually("a token") { try sidecar.get().status == 200 }
        #expect(try sidecar.state() == "authorized")
        #expect(sidecar.storedSession.contains(try #require(sidecar.provider.latestRefreshToken)))
    }
}
