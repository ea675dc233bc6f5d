// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
package import BearerdEventLoop
package import BearerdHTTPClient
import BearerdHTTPServer
package import BearerdSystem
import BearerdTokenStore
public import OAuth
import Synchronization

/// Runs sessions in a program other than bearerd: transport by libcurl, a store, clocks, and redirects to loopback.
///
/// Make one for the process and keep it. It has two threads of its own, and one that signs if tokens may be bound to
/// a key.
///
/// ```swift
/// let runtime = try AuthRuntime(storage: .directory("/var/lib/my-program"))
/// var client = ClientConfiguration(name: "default", clientID: "my-program", grantType: .authorizationCode)
/// client.issuer = "https://sso.example.com/realms/demo"
/// let session = try await runtime.open(client)
/// ```
public final class AuthRuntime: Sendable {
    /// Where sessions are kept.
    public enum Storage: Sendable {
        /// They end with the process.
        case memory
        /// Private files, shared by every process that opens the same directory.
        case directory(String)
        /// Files in a directory that processes may share, encrypted (AES-256-GCM) with a key of 32 bytes in base64 or
        /// hexadecimal.
        case encryptedDirectory(String, key: Secret)
        /// Files in a directory that processes may share, encrypted with a key of that name in the user's keyring (the Secret
        /// Service of freedesktop.org), which is made at the first use. Needs `secret-tool` of libsecret-tools and an unlocked
        /// keyring; opening blocks for at most five seconds. bearerd's `store.encryption_key_keyring` of the same name is the
        /// same key.
        case keyring(String, name: String)
        /// A store of the program's own that keeps the promises of `SessionStore`.
        case custom(any SessionStore)
    }

    let loop: EventLoop
    /// True if loop and thread end with the runtime.
    private let ownsThreads: Bool
    private let thread: ThreadExecutor
    private let store: any SessionStore
    private let trust: TrustStores
    /// The sessions of one name share a refresh token and hear of each other's logins, refreshes and logouts.
    private let families = SessionFamilies()
    /// Signs proofs for resource servers; made for the first session that may need it.
    private let signer = Mutex<ThreadExecutor?>(nil)

    /// Opens the store and starts the threads.
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
                case .keyring(let path, let name):
                    try StoreForm.directory(path, key: KeyringStorage.key(named: name, for: path)).open(
                        on: thread)
                case .custom(let store): store
                }
            _ = try loop.start()
        } catch {
            throw AuthRuntimeError(error)
        }
    }

    /// A runtime on the loop, store and certificates of the caller.
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

    /// A session for a client, which refreshes by itself from its `start()` on; ``open(_:connecting:observer:credentials:)``
    /// gives one that was started.
    ///
    /// Sessions of one name belong to one person or client: a login, refresh or logout of one counts for all. They
    /// keep the runtime alive.
    ///
    /// - Parameters:
    ///   - client: the client, its authorization server and its requests.
    ///   - caFile: PEM file with the certificate authorities to trust in place of the system's.
    ///   - observer: hears the session's events.
    ///   - credentials: the client's secret, key and so on, read at each use; nil for a credential that there is not.
    /// - Returns: the session, which keeps the runtime alive until its `stop()` and its last reference.
    /// - Throws: `AuthRuntimeError` for a configuration that contradicts itself, and certificate authorities that
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

    /// A session for a client, with settings for the connection to its server.
    ///
    /// - Throws: `AuthRuntimeError` for a configuration that contradicts itself, and files that cannot be read.
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

    /// A session for a client, with the program's own transport to its server.
    ///
    /// - Throws: `AuthRuntimeError` for a configuration that contradicts itself.
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
    ///
    /// One with a source of its own keeps what it has to itself, in memory: there is nothing to share.
    ///
    /// - Parameter other: a session of the same identity, whose refresh token is shared; nil for the first one.
    package func session(
        for client: ClientConfiguration, beside other: AuthSession? = nil, over transport: any TokenTransport,
        observer: any SessionObserver, proving credentials: any CredentialSource
    ) -> AuthSession {
        let isAlone = client.source != nil
        let signer = client.proofs == .never ? nil : signingThread
        if let other, !isAlone {
            return AuthSession(
                configuration: client, beside: other, transport: transport, credentials: credentials,
                signingOn: signer)
        }
        return AuthSession(
            configuration: client, executor: loop, clock: LoopClock(loop: loop), transport: transport,
            store: isAlone ? MemoryStore(on: thread) : store, credentials: credentials, observer: observer,
            family: isAlone ? SessionFamily() : families[client.name], signingOn: signer)
    }

    /// The thread for signatures, which take longer than anything else in a request; nil if no thread can be made.
    private var signingThread: ThreadExecutor? {
        signer.withLock { signer in
            if signer == nil { signer = try? ThreadExecutor(named: "signer") }
            return signer
        }
    }

    /// A transport to an authorization server without a session: see `ServiceConfiguration`.
    ///
    /// - Parameter caFile: PEM file with the certificate authorities to trust in place of the system's.
    /// - Throws: `AuthRuntimeError` for certificate authorities that cannot be read.
    public func transport(caFile: String? = nil) throws(AuthRuntimeError) -> some TokenTransport {
        try transport(ConnectionSettings(caFile: caFile))
    }

    /// A transport to an authorization server, with settings for the connection.
    ///
    /// - Throws: `AuthRuntimeError` for files that cannot be read.
    public func transport(
        _ settings: ConnectionSettings
    ) throws(AuthRuntimeError) -> some TokenTransport {
        ProviderTransport(
            client: TransferClient(loop: loop), transport: try settings.transport(trust), readingOn: thread,
            keeping: self)
    }
}

/// Credentials that a closure of the program gives.
struct ClosureCredentials: CredentialSource {
    /// Kept alive by the sessions' credentials.
    let runtime: AuthRuntime
    let read: @Sendable (Credential) -> String?

    func read(_ credential: Credential) async throws(CredentialError) -> Secret? {
        read(credential).map { Secret($0) }
    }
}
