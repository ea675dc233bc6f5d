// SPDX-License-Identifier: Apache-2.0

import Cryptography
package import EventLoop
package import HTTPClient
import HTTPServer
public import OAuth
import Synchronization
package import System
import TokenStore

/// All that sessions stand on in a program that is not bearerd: libcurl, files, clocks, a redirect on loopback.
///
/// Make one for the process and keep it; it has two threads of its own, and one that signs where tokens may be bound to a key.
///
/// ```swift
/// let runtime = try AuthRuntime(storage: .directory("/var/lib/my-program"))
/// var client = ClientConfiguration(name: "default", clientID: "my-program", grantType: .authorizationCode)
/// client.issuer = "https://sso.example.com/realms/demo"
/// let session = try runtime.session(for: client)
/// await session.start()
/// ```
public final class AuthRuntime: Sendable {
    /// Where sessions are kept.
    public enum Storage: Sendable {
        /// They end with the process.
        case memory
        /// Files that nobody else may read, shared by every process that opens the same directory.
        case directory(String)
        /// Files in a directory that processes may share, encrypted (AES-256-GCM) with a key of 32 bytes in base64 or hexadecimal.
        case encryptedDirectory(String, key: Secret)
        /// A store of the program's own, which keeps what `SessionStore` promises.
        case custom(any SessionStore)
    }

    let loop: EventLoop
    /// Whether loop and thread end with it.
    private let ownsThreads: Bool
    private let thread: ThreadExecutor
    private let store: any SessionStore
    private let trust: TrustStores
    /// The sessions of one name have one refresh token, and hear of each other's logins, refreshes and logouts.
    private let families = SessionFamilies()
    /// Signs what requests to resource servers prove; made for the first session that may need it.
    private let signer = Mutex<ThreadExecutor?>(nil)

    /// Opens the store and starts the threads.
    ///
    /// - Parameter storage: where sessions are kept.
    /// - Throws: ``AuthRuntimeError``.
    public init(storage: Storage) throws(AuthRuntimeError) {
        ownsThreads = true
        do {
            try HTTPClientLibrary.initialize()
            loop = try EventLoop(name: "oauth")
            thread = try ThreadExecutor(named: "oauth-store")
            trust = TrustStores()
            store =
                switch storage {
                case .memory: try StoreForm.memory.open(on: thread)
                case .directory(let path): try StoreForm.directory(path, key: nil).open(on: thread)
                case .encryptedDirectory(let path, let key):
                    try StoreForm.directory(path, key: key).open(on: thread)
                case .custom(let store): store
                }
            _ = try loop.start()
        } catch {
            throw AuthRuntimeError(error)
        }
    }

    /// What sessions stand on in a program that has a loop, a store and its own way with files already.
    package init(
        on loop: EventLoop, storeThread thread: ThreadExecutor, store: any SessionStore, trust: TrustStores
    ) {
        ownsThreads = false
        self.loop = loop
        self.thread = thread
        self.store = store
        self.trust = trust
    }

    deinit {
        guard ownsThreads else { return }
        thread.stop()
        signer.withLock { $0?.stop() }
        loop.stop()
    }

    /// A session for a client; call its `start()` before anything else.
    ///
    /// Sessions of one name are one person's, or one client's: what one of them logs in, refreshes or logs out is the
    /// others' too. They keep the runtime alive.
    ///
    /// - Parameters:
    ///   - client: who asks, whom, and what for.
    ///   - caFile: PEM file with the certificate authorities to trust in place of the system's.
    ///   - observer: hears what happens.
    ///   - credentials: the client's secret, key and so on, asked for at each use; nil where there is none.
    /// - Returns: the session, which keeps the runtime's threads busy until its `stop()`.
    /// - Throws: ``AuthRuntimeError`` for a configuration that contradicts itself, and certificate authorities that
    ///   cannot be read.
    public func session(
        for client: ClientConfiguration, caFile: String? = nil,
        observer: any SessionObserver = SilentObserver(),
        credentials: @escaping @Sendable (Credential) -> String? = { _ in nil }
    ) throws(AuthRuntimeError) -> AuthSession {
        try session(
            for: client, connecting: ConnectionSettings(caFile: caFile), observer: observer,
            credentials: credentials)
    }

    /// A session for a client, whose server is connected to in a way of its own.
    ///
    /// - Parameters:
    ///   - client: who asks, whom, and what for.
    ///   - settings: certificate authorities, a client certificate, a proxy.
    ///   - observer: hears what happens.
    ///   - credentials: the client's secret, key and so on, asked for at each use; nil where there is none.
    /// - Throws: ``AuthRuntimeError`` for a configuration that contradicts itself, and files that cannot be read.
    public func session(
        for client: ClientConfiguration, connecting settings: ConnectionSettings,
        observer: any SessionObserver = SilentObserver(),
        credentials: @escaping @Sendable (Credential) -> String? = { _ in nil }
    ) throws(AuthRuntimeError) -> AuthSession {
        var client = client
        if settings.clientCertificateFile != nil { client.presentsCertificate = true }
        return try session(
            for: client, over: try transport(settings), observer: observer, credentials: credentials)
    }

    /// A session for a client, whose server is reached by a transport of the program's own.
    ///
    /// - Parameters:
    ///   - client: who asks, whom, and what for.
    ///   - transport: carries the requests.
    ///   - observer: hears what happens.
    ///   - credentials: the client's secret, key and so on, asked for at each use; nil where there is none.
    /// - Throws: ``AuthRuntimeError`` for a configuration that contradicts itself.
    public func session(
        for client: ClientConfiguration, over transport: any TokenTransport,
        observer: any SessionObserver = SilentObserver(),
        credentials: @escaping @Sendable (Credential) -> String? = { _ in nil }
    ) throws(AuthRuntimeError) -> AuthSession {
        if let problem = client.problems.first { throw AuthRuntimeError(reason: problem) }
        return session(
            for: client, over: transport, observer: observer,
            proving: ClosureCredentials(runtime: self, read: credentials))
    }

    /// A session for a client that has been checked, in the family of its name.
    package func session(
        for client: ClientConfiguration, over transport: any TokenTransport,
        observer: any SessionObserver, proving credentials: any CredentialSource
    ) -> AuthSession {
        AuthSession(
            configuration: client, executor: loop, clock: LoopClock(loop: loop), transport: transport,
            store: store, credentials: credentials, observer: observer, family: families[client.name],
            signingOn: client.proofs == .never ? nil : signingThread)
    }

    /// A thread of its own for signatures, each of which takes longer than all else that is done for a request.
    ///
    /// Nil where the system has no thread left: then the sessions' own thread signs.
    private var signingThread: ThreadExecutor? {
        signer.withLock { signer in
            if signer == nil { signer = try? ThreadExecutor(named: "signer") }
            return signer
        }
    }

    /// The way to an authorization server, for what needs no session: see `ServiceConfiguration`.
    ///
    /// - Parameter caFile: PEM file with the certificate authorities to trust in place of the system's.
    /// - Throws: ``AuthRuntimeError`` for certificate authorities that cannot be read.
    public func transport(caFile: String? = nil) throws(AuthRuntimeError) -> some TokenTransport {
        try transport(ConnectionSettings(caFile: caFile))
    }

    /// The way to an authorization server that is connected to in a way of its own.
    ///
    /// - Throws: ``AuthRuntimeError`` for files that cannot be read.
    public func transport(
        _ settings: ConnectionSettings
    ) throws(AuthRuntimeError) -> some TokenTransport {
        ProviderTransport(
            client: TransferClient(loop: loop), transport: try settings.transport(trust), readingOn: thread,
            keeping: self)
    }

    /// Logs a person in with a browser and a redirect to loopback (RFC 8252), code and PKCE.
    ///
    /// - Parameters:
    ///   - session: becomes the person's.
    ///   - redirectURI: as registered; with port 0 any free port is used.
    ///   - scope: what this login asks for in place of the configured scope; nil for that.
    ///   - parameters: what this login says beside what all say, and in place of parameters of the same names.
    ///   - limit: how long the person may take.
    ///   - open: shows the URL to the person, in a browser of this machine.
    ///
    /// Cancelling the task ends the wait and gives the port back.
    ///
    /// - Returns: what came of it, stored already.
    /// - Throws: `LoginError`; the session that there was goes on.
    @discardableResult
    public func logIn(
        _ session: AuthSession, redirectURI: String = "http://127.0.0.1:0/callback", scope: [String]? = nil,
        adding parameters: [NamedValue] = [],
        waitingAtMost limit: Duration = .seconds(300), open: @escaping @Sendable (String) -> Void
    ) async throws(LoginError) -> Login {
        guard let uri = RedirectURI(redirectURI), uri.isLoopback else {
            throw .unusableRedirect("\(redirectURI) is no http URL of this machine")
        }
        let work = Task(executorPreference: loop) { () -> Result<Login, LoginError> in
            let login = LoopbackLogin(
                session: session, uri: uri, scope: scope, adding: parameters, limit: limit, loop: self.loop)
            do throws(LoginError) {
                return .success(
                    try await login.run(
                        failing: LoginError.init, open: { url throws(LoginError) in open(url) },
                        finish: { code throws(LoginError) in
                            // Whoever gives up from here on must not lose what a code was spent on.
                            try await self.exchange(code, in: session).get()
                        },
                        page: { _ in .done }))
            } catch {
                return .failure(error)
            }
        }
        return try await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }.get()
    }

    private func exchange(
        _ code: AuthorizationCode, in session: AuthSession
    ) async -> Result<Login, LoginError> {
        await Task(executorPreference: loop) {
            do throws(LoginError) {
                return .success(try await session.logIn(with: code))
            } catch {
                return .failure(error)
            }
        }.value
    }
}

/// The credentials that a closure gives.
private struct ClosureCredentials: CredentialSource {
    /// Sessions hold their credentials, and so what they stand on.
    let runtime: AuthRuntime
    let read: @Sendable (Credential) -> String?

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? {
        read(credential).map { Secret($0) }
    }
}
