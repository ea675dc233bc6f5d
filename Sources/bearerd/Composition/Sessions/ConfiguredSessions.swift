// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdObservability
import BearerdRedis
import BearerdSystem
import BearerdTokenStore
import OAuth
import OAuthRuntime

/// The sessions of a configuration on one `AuthRuntime`, with their store, transports and credentials.
///
/// `run` and the commands for an identity use the same type.
struct ConfiguredSessions: Sendable {
    private(set) var configuration: Configuration
    private(set) var groups: [SessionGroup] = []
    let reporter: SessionReporter
    let store: any SessionStore
    let trust: TrustStores
    let files: WatchedFiles
    private let secrets: SecretReader
    /// Runs the programs of `source: command`; nil where there are none, and then none can be added.
    let commands: CommandHelper?

    private let loop: EventLoop
    private let runtime: AuthRuntime
    private let log: Log

    /// Opens the store and makes a session for each identity without starting it.
    ///
    /// - Parameters:
    ///   - keyringKey: the store's, if the Secret Service has it.
    ///   - commands: made before a sandbox; nil to make it here if it is needed.
    ///   - hooks: run on changes of state; nil for a command.
    ///   - manager: told of changes of state; nil for a command.
    ///   - onTrouble: called with failures of the store if there is no log.
    ///   - access: the use that is made of the store.
    /// - Throws: `FileStoreError`, `TrustStore.LoadError`, `SystemError` if there is no thread.
    init(
        configuration: Configuration, loop: EventLoop, log: Log, keyringKey: Secret? = nil,
        commands: CommandHelper? = nil, hooks: StateChangeHooks? = nil,
        manager: ServiceManager? = nil, onTrouble: (@Sendable (String) -> Void)? = nil,
        access: StoreAccess = .full
    ) throws {
        self.configuration = configuration
        self.commands = try commands ?? (access == .examination ? nil : configuration.commandHelper())
        let thread = try ThreadExecutor(named: "store")
        let trust = TrustStores()
        let reporter = SessionReporter(
            log: log, hooks: hooks, manager: manager, page: configuration.pageInPlaceOfCommands,
            onTrouble: onTrouble)
        let files = WatchedFiles(on: try FileExecutor(named: "files"))
        secrets = SecretReader(on: files.executor, loop: loop)
        files.remember(configuration.files)
        let store = try configuration.openStore(
            for: access, keyringKey: keyringKey,
            with: StoreParts(
                thread: thread, secrets: secrets, files: files.executor, loop: loop, trust: trust, log: log,
                onTrouble: onTrouble))
        runtime = AuthRuntime(on: loop, storeThread: thread, store: store, trust: trust)
        self.files = files
        self.loop = loop
        self.log = log
        self.trust = trust
        self.reporter = reporter
        self.store = store
        for identity in configuration.identities { groups.append(try makeGroup(identity, known: nil)) }
    }

    private func makeGroup(
        _ identity: IdentityConfiguration, known: SessionGroup?
    ) throws(TrustStore.LoadError) -> SessionGroup {
        let known = known.flatMap { $0.goesOn(as: identity) ? $0 : nil }
        let transport: ProviderTransport
        if let known {
            transport = known.transport
        } else {
            transport = ProviderTransport(
                client: TransferClient(loop: loop),
                transport: try identity.transport.transport(
                    encrypted: identity.client.mayUseTLS, trust: trust))
        }
        return SessionGroup(
            identity, routes: configuration.routes, known: known, transport: transport,
            page: configuration.pageInPlaceOfCommands
        ) { client, other in
            runtime.session(
                for: client, beside: other, over: transport, observer: reporter,
                proving: SecretFileCredentials(
                    sources: identity.credentials, keys: identity.credentialKeys, reader: secrets,
                    limit: identity.client.tokenTimeLimit, commands: commands))
        }
    }

    /// The sessions of another configuration; those that stay the same are kept.
    func changed(to configuration: Configuration) throws(TrustStore.LoadError) -> ConfiguredSessions {
        var changed = self
        changed.configuration = configuration
        var groups: [SessionGroup] = []
        for identity in configuration.identities {
            let known = self.groups.first { $0.name == identity.name }
            groups.append(try changed.makeGroup(identity, known: known))
        }
        changed.groups = groups
        return changed
    }

    /// The sessions that are not among another configuration's.
    func sessions(notIn other: ConfiguredSessions) -> [AuthSession] {
        let known = Set(other.all.map(ObjectIdentifier.init))
        return all.filter { !known.contains(ObjectIdentifier($0)) }
    }

    /// Loads stored sessions, fetches tokens that need no person, and starts to watch files.
    func start() async {
        // At once: a store that is silent keeps each waiting.
        let starts = all.map { session in Task(executorPreference: loop) { await session.start() } }
        for start in starts { await start.value }
        watchCredentials()
    }

    /// Watches the files of the identities' credentials.
    func watchCredentials() {
        files.watchIdentities(groups.map { CredentialWatch($0, on: files.executor, log: log) })
    }

    /// Every session of every identity.
    var all: [AuthSession] { groups.flatMap { $0.members.map(\.session) } }

    /// Every session whose tokens come from an authorization server, and not from a `source`.
    var sessionsOfServers: [AuthSession] {
        groups.filter { $0.identity.client.source == nil }.flatMap { $0.members.map(\.session) }
    }

    /// The session whose token a route adds; nil without an identity.
    func session(for route: RouteConfiguration) -> AuthSession? {
        guard let name = route.identity, let identity = configuration.identity(named: name) else {
            return nil
        }
        return groups.first { $0.name == name }?.session(for: route.target, of: identity)
    }
}

extension ConfiguredSessions {
    /// Checks that a store on a server can be used, for callers that would fail without it.
    func probeStore(for use: RedisUse = .reading) async throws(CommandFailure) {
        guard let store = store as? RedisStore else { return }
        do throws(RedisError) {
            try await store.probe(use)
        } catch {
            throw CommandFailure(error)
        }
    }

    /// Tests the operations of a store on a server, and returns what it reports; nil for other stores.
    func examineStore() async throws(CommandFailure) -> RedisExamination? {
        guard let store = store as? RedisStore else { return nil }
        do throws(RedisError) {
            return try await store.examine()
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension ClientConfiguration {
    /// True unless all addresses of the provider are known to be plain HTTP.
    var mayUseTLS: Bool {
        if let source { return source.server?.scheme == .https }
        let known = [issuer.flatMap(HTTPURL.init), discoveryURL].compactMap(\.self) + endpoints.values
        return known.isEmpty || known.contains { $0.scheme != .http }
    }
}

extension Configuration {
    /// The identities whose tokens a program prints.
    var commandIdentities: [IdentityConfiguration] {
        identities.filter { $0.client.source?.name == .command }
    }

    /// Starts what runs their programs; call it before there are threads, or a sandbox.
    ///
    /// - Returns: nil if there are none.
    /// - Throws: `SystemError`.
    func commandHelper() throws(SystemError) -> CommandHelper? {
        commandIdentities.isEmpty ? nil : try CommandHelper()
    }
}
