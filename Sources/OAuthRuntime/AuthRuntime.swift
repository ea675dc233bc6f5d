// SPDX-License-Identifier: Apache-2.0

import Cryptography
import EventLoop
import HTTPClient
import HTTPServer
public import OAuth
import System
import TokenStore

/// All that sessions stand on in a program that is not bearerd: libcurl, files, clocks, a redirect on loopback.
///
/// Make one for the process and keep it; it has two threads of its own.
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
    }

    let loop: EventLoop
    private let thread: ThreadExecutor
    private let store: any SessionStore
    private let trust: TrustStores

    /// Opens the store and starts the threads.
    ///
    /// - Parameter storage: where sessions are kept.
    /// - Throws: ``AuthRuntimeError``.
    public init(storage: Storage) throws(AuthRuntimeError) {
        do {
            try HTTPClientLibrary.initialize()
            loop = try EventLoop(name: "oauth")
            thread = try ThreadExecutor(named: "oauth-store")
            trust = TrustStores()
            store =
                switch storage {
                case .memory: MemoryStore(on: thread)
                case .directory(let path): try FileStore(directory: path, on: thread)
                case .encryptedDirectory(let path, let key):
                    try FileStore(directory: path, on: thread, sealer: Self.sealer(key))
                }
            _ = try loop.start()
        } catch {
            throw AuthRuntimeError(error)
        }
    }

    deinit {
        thread.stop()
        loop.stop()
    }

    /// A session for a client; call its `start()` before anything else.
    ///
    /// - Parameters:
    ///   - client: who asks, whom, and what for.
    ///   - caFile: PEM file with the certificate authorities to trust in place of the system's.
    ///   - observer: hears what happens.
    ///   - credentials: the client's secret, key and so on, asked for at each use; nil where there is none.
    /// - Returns: the session, which keeps the runtime's threads busy until its `stop()`.
    /// - Throws: ``AuthRuntimeError`` for certificate authorities that cannot be read.
    public func session(
        for client: ClientConfiguration, caFile: String? = nil,
        observer: any SessionObserver = SilentObserver(),
        credentials: @escaping @Sendable (Credential) -> String? = { _ in nil }
    ) throws(AuthRuntimeError) -> AuthSession {
        AuthSession(
            configuration: client, executor: loop, clock: LoopClock(loop: loop),
            transport: try transport(caFile: caFile), store: store,
            credentials: ClosureCredentials(read: credentials), observer: observer)
    }

    /// The way to an authorization server, for what needs no session: see ``OAuth/ServiceConfiguration``.
    ///
    /// - Parameter caFile: PEM file with the certificate authorities to trust in place of the system's.
    /// - Throws: ``AuthRuntimeError`` for certificate authorities that cannot be read.
    public func transport(caFile: String? = nil) throws(AuthRuntimeError) -> some TokenTransport {
        do {
            return ProviderTransport(
                client: TransferClient(loop: loop),
                transport: Transport(trust: try trust.store(caFile: caFile)))
        } catch {
            throw AuthRuntimeError(error)
        }
    }

    private static func sealer(_ key: Secret) throws -> EncryptingSealer {
        guard let sealer = EncryptingSealer(key: key) else {
            throw AuthRuntimeError(reason: "the key is not 32 bytes in base64 or hexadecimal")
        }
        return sealer
    }

    /// Logs a person in with a browser and a redirect to loopback (RFC 8252), code and PKCE.
    ///
    /// - Parameters:
    ///   - session: becomes the person's.
    ///   - redirectURI: as registered; with port 0 any free port is used.
    ///   - limit: how long the person may take.
    ///   - open: shows the URL to the person, in a browser of this machine.
    /// - Returns: what came of it, stored already.
    /// - Throws: ``OAuth/LoginError``; the session that there was goes on.
    @discardableResult
    public func logIn(
        _ session: AuthSession, redirectURI: String = "http://127.0.0.1:0/callback",
        waitingAtMost limit: Duration = .seconds(300), open: @escaping @Sendable (String) -> Void
    ) async throws(LoginError) -> Login {
        guard let uri = RedirectURI(redirectURI), uri.isLoopback else {
            throw .unusableRedirect("\(redirectURI) is no http URL of this machine")
        }
        let work = Task(executorPreference: loop) { () -> Result<Login, LoginError> in
            let login = LoopbackLogin(session: session, uri: uri, limit: limit, loop: self.loop)
            do throws(LoginError) {
                return .success(
                    try await login.run(
                        failing: LoginError.init, open: { url throws(LoginError) in open(url) },
                        finish: { code throws(LoginError) in try await session.logIn(with: code) },
                        page: { _ in .done }))
            } catch {
                return .failure(error)
            }
        }
        return try await work.value.get()
    }
}

/// The credentials that a closure gives.
private struct ClosureCredentials: CredentialSource {
    let read: @Sendable (Credential) -> String?

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? {
        read(credential).map { Secret($0) }
    }
}
