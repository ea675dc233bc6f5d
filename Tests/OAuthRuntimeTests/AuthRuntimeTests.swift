// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPClient
import BearerdTestSupport
import OAuth
import Synchronization
import Testing

@testable import OAuthRuntime

/// What a program that is not bearerd is told of what it stands on.
@Suite(.timeLimit(.minutes(10))) struct `A runtime for other programs` {
    private var person: ClientConfiguration {
        var client = ClientConfiguration(
            name: "default", clientID: "my-program", grantType: .authorizationCode)
        client.issuer = "http://127.0.0.1:1"
        return client
    }

    private func reason(of storage: AuthRuntime.Storage) -> String? {
        do throws(AuthRuntimeError) {
            _ = try AuthRuntime(storage: storage)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test func `says why it cannot open its store`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("file", "not a directory")
        #expect(reason(of: .directory(file))?.contains(file) == true)
        let key = Secret("fake-and-too-short")
        let refused = reason(of: .encryptedDirectory(directory.path("store"), key: key))
        #expect(refused == "store: the key is not 32 bytes in hexadecimal or base64")
    }

    @Test func `prints its errors and settings as one line, without a proxy's password`() throws {
        let error = #expect(throws: AuthRuntimeError.self) {
            _ = try AuthRuntime(storage: .memory).session(for: person, caFile: "/nowhere/ca.pem")
        }
        #expect(
            error.map { "\($0)" } == error?.sentence && error?.sentence.contains("/nowhere/ca.pem") == true)
        var settings = ConnectionSettings(caFile: "/etc/ca.pem")
        settings.proxy = .url(Secret("http://user:fake-password@relay:3128"))
        #expect("\(settings)" == "the authorities /etc/ca.pem, no client certificate, a proxy")
        #expect(!String(reflecting: settings).contains("fake-password"))
    }

    @Test func `says which authorities it cannot read`() throws {
        let runtime = try AuthRuntime(storage: .memory)
        #expect(throws: AuthRuntimeError.self) {
            _ = try runtime.session(for: person, caFile: "/nowhere/ca.pem")
        }
        #expect(throws: AuthRuntimeError.self) { _ = try runtime.transport(caFile: "/nowhere/ca.pem") }
    }

    @Test(.blocking) func `shows a client certificate that was replaced with the next request`() async throws
    {
        let (old, new) = (try TLSAuthority(), try TLSAuthority())
        let provider = try RawUpstream(tls: old.server(clientAuthority: new.certificateFile))
        let directory = try TemporaryDirectory()
        func write(_ client: (certificateFile: String, keyFile: String)) throws -> String {
            try directory.write(
                "client.pem",
                bytes: TemporaryDirectory.contents(of: client.certificateFile)
                    + TemporaryDirectory.contents(of: client.keyFile))
        }
        var settings = ConnectionSettings(caFile: old.certificateFile)
        settings.clientCertificateFile = try write(old.client())
        let runtime = try AuthRuntime(storage: .memory)
        let transport = try runtime.transport(settings)
        let request = TransferRequest(url: try #require(HTTPURL(provider.url)))
        await #expect(throws: TransportError.self) { try await transport.send(request) }
        _ = try write(new.client())
        #expect(try await transport.send(request).status == 200)
    }

    @Test(.blocking) func `keeps the authorities whose reading began last, in whatever order readings end`()
        async throws
    {
        let (old, new) = (try TLSAuthority(), try TLSAuthority())
        let provider = try RawUpstream(tls: new.server())
        let runtime = try AuthRuntime(storage: .memory)
        let transport = try #require(
            try runtime.transport(caFile: old.certificateFile) as? ProviderTransport)
        let before = ContinuousClock.now
        try transport.replaceTrust(with: TrustStore(file: new.certificateFile), readAt: .now)
        try transport.replaceTrust(with: TrustStore(file: old.certificateFile), readAt: before)
        let request = TransferRequest(url: try #require(HTTPURL(provider.url)))
        #expect(try await transport.send(request).status == 200)
    }

    @Test func `asks for a login before there was one, and again in another process of the same store`()
        async throws
    {
        let directory = try TemporaryDirectory()
        for _ in 0..<2 {
            let runtime = try AuthRuntime(storage: .directory(directory.path("store")))
            let session = try runtime.session(for: person)
            await session.start()
            #expect(await session.status.state == .loginRequired)
            await #expect(throws: TokenError.loginRequired) {
                _ = try await session.freshToken(waitingAtMost: .seconds(5))
            }
            await session.stop()
        }
    }

    @Test func `tells what is stored in another process without a start`() async throws {
        let directory = try TemporaryDirectory()
        let first = try AuthRuntime(storage: .directory(directory.path("store"))).session(for: person)
        try await first.take(Secret("fake-refresh-token"))
        let second = try AuthRuntime(storage: .directory(directory.path("store"))).session(for: person)
        #expect(await second.isAuthorized)
        #expect(await !second.needsLogin)
        _ = await first.logOut(onlyHere: true)
        #expect(await second.needsLogin)
    }

    @Test func `opens sessions that are started, and stop with their last reference`() async throws {
        let runtime = try AuthRuntime(storage: .memory)
        var session: AuthSession? = try await runtime.open(person)
        #expect(await session?.needsLogin == true)
        weak let observed = session
        let events = try #require(session?.events)
        session = nil
        // They end where the session does.
        for await _ in events {}
        #expect(observed == nil)
    }

    @Test func `shows a login's URL on the main actor, and cancels what shows it once the login is over`()
        async throws
    {
        var client = person
        client.issuer = nil
        client.endpoints[.authorization] = HTTPURL("https://sso.example.com/authorize")
        client.endpoints[.token] = HTTPURL("https://sso.example.com/token")
        let runtime = try AuthRuntime(storage: .memory)
        let session = try await runtime.open(client)
        let (shown, show) = AsyncStream.makeStream(of: String.self)
        let (hidden, hide) = AsyncStream.makeStream(of: Bool.self)
        let open: @MainActor @Sendable (String) async -> Void = { url in
            MainActor.assertIsolated()
            show.yield(url)
            let (forever, _) = AsyncStream.makeStream(of: Void.self)
            for await _ in forever {}
            hide.yield(Task.isCancelled)
        }
        let login = Task { try await runtime.logIn(session, waitingAtMost: .seconds(3600), open: open) }
        var urls = shown.makeAsyncIterator()
        #expect(await urls.next() != nil)
        login.cancel()
        await #expect(throws: LoginError.cancelled) { try await login.value }
        var ends = hidden.makeAsyncIterator()
        #expect(await ends.next() == true)
    }

    @Test func `takes a redirect to this machine alone`() async throws {
        let runtime = try AuthRuntime(storage: .memory)
        let session = try runtime.session(for: person)
        for uri in ["https://app.example.com/callback", "http://10.0.0.1:0/callback", "nonsense"] {
            let outcome = await Task {
                try await runtime.logIn(session, redirectURI: uri) { url in
                    Issue.record("\(url) is shown")
                }
            }.result
            guard case .failure(let error) = outcome else {
                Issue.record("\(uri) is taken")
                continue
            }
            #expect("\(error)".contains(uri), "\(error)")
        }
    }

    @Test func `lives as long as its sessions`() async throws {
        let session = try AuthRuntime(storage: .memory).session(for: person)
        await session.start()
        #expect(await session.needsLogin)
        await session.stop()
    }

    @Test func `lives as long as a way to a server`() async throws {
        let way = try AuthRuntime(storage: .memory).transport()
        var client = person
        client.issuer = "http://127.0.0.1:1"
        await #expect(throws: TokenFailure.self) {
            _ = try await ServiceConfiguration.discover(for: client, over: way)
        }
    }

    @Test func `makes one family of the sessions of one name`() async throws {
        let runtime = try AuthRuntime(storage: .memory)
        let (first, second) = (try runtime.session(for: person), try runtime.session(for: person))
        var client = person
        client.name = "other"
        let other = try runtime.session(for: client)
        for session in [first, second, other] { await session.start() }
        try await first.take(Secret("fake-refresh-token"))
        var events = second.events.makeAsyncIterator()
        while await second.needsLogin { _ = await events.next() }
        #expect(await second.refreshToken?.matches(Array("fake-refresh-token".utf8)) == true)
        #expect(await other.needsLogin)
        _ = await first.logOut(onlyHere: true)
        while await !second.needsLogin { _ = await events.next() }
        #expect(await second.refreshToken == nil)
        for session in [first, second, other] { await session.stop() }
    }

    @Test func `forgets a family whose sessions have gone`() {
        let families = SessionFamilies()
        let kept = families["kept"]
        for number in 0..<100 { _ = families["user \(number)"] }
        #expect(families["kept"] === kept)
        #expect(families.count <= 2)
        #expect(families["caf\u{E9}"] !== families["cafe\u{301}"], "names are bytes")
    }

    @Test func `takes no configuration that contradicts itself`() throws {
        let runtime = try AuthRuntime(storage: .memory)
        var client = person
        client.authorizationParameters = [NamedValue("state", "mine")]
        #expect(throws: AuthRuntimeError.self) { _ = try runtime.session(for: client) }
        client = person
        client.defaultLifetime = .seconds(Int64.max)
        #expect(throws: AuthRuntimeError.self) { _ = try runtime.session(for: client) }
        var settings = ConnectionSettings()
        settings.proxy = .url(Secret("ftp://relay"))
        #expect(throws: AuthRuntimeError.self) { _ = try runtime.session(for: person, connecting: settings) }
    }

    @Test func `keeps sessions in a store of the program's own`() async throws {
        let store = SharedStore()
        let runtime = try AuthRuntime(storage: .custom(store))
        let session = try runtime.session(for: person)
        try await session.take(Secret("fake-refresh-token"))
        #expect(store.session?.refreshToken?.matches(Array("fake-refresh-token".utf8)) == true)
    }

    @Test func `gives a login up that is cancelled, and its port back`() async throws {
        var client = person
        client.issuer = nil
        client.endpoints[.authorization] = HTTPURL("https://sso.example.com/authorize")
        client.endpoints[.token] = HTTPURL("https://sso.example.com/token")
        let runtime = try AuthRuntime(storage: .memory)
        let session = try runtime.session(for: client)
        let (shown, show) = AsyncStream.makeStream(of: String.self)
        let login = Task {
            try await runtime.logIn(session, waitingAtMost: .seconds(3600)) { show.yield($0) }
        }
        var urls = shown.makeAsyncIterator()
        let url = try #require(await urls.next())
        login.cancel()
        await #expect(throws: LoginError.cancelled) { try await login.value }
        let port = try #require(url.firstMatch(of: #/127\.0\.0\.1%3A(\d+)%2Fcallback/#)).output.1
        let again = Task {
            try await runtime.logIn(
                session, redirectURI: "http://127.0.0.1:\(port)/callback", waitingAtMost: .seconds(3600)
            ) { show.yield($0) }
        }
        #expect(await urls.next() != nil)
        again.cancel()
        _ = await again.result
    }

    @Test func `gives a fixed port back whose login could not begin`() async throws {
        let runtime = try AuthRuntime(storage: .memory)
        let session = try runtime.session(for: person)
        let taken = try RawServer { _ in }
        let port = taken.address.port
        taken.stop()
        for _ in 0..<2 {
            do {
                try await runtime.logIn(session, redirectURI: "http://127.0.0.1:\(port)/callback") { _ in }
                Issue.record("nobody publishes an authorization endpoint")
            } catch {
                #expect(!"\(error)".contains("cannot listen"), "\(error)")
            }
        }
    }
}

/// The least that a store can be: one identity, one process.
private final class SharedStore: SessionStore {
    private let state = Mutex<StoredSession?>(nil)

    var session: StoredSession? { state.withLock { $0 } }

    func load(_ identity: String) async throws(StoreError) -> StoredSession? { session }

    func lock(
        _ identity: String, waitingAtMost limit: Duration
    ) async throws(StoreError) -> any StoreLease { Lease(store: self) }

    func changes(of identity: String) -> AsyncStream<Void> { AsyncStream { $0.finish() } }

    private struct Lease: StoreLease {
        let store: SharedStore

        func save(
            _ session: StoredSession, over read: StoredSession?, keepingPrevious keepsPrevious: Bool
        ) async throws(StoreError) {
            try session.checkReplacing(store.session, read: read)
            store.state.withLock { $0 = session }
        }

        func spend(_ session: StoredSession) async throws(StoreError) {}

        func release() async {}
    }
}
