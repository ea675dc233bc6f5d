// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdJSON
import BearerdObservability
import BearerdRedis
import BearerdSystem
import BearerdTokenStore
import Glibc
import OAuth
import SessionImport

/// One identity's session for the duration of a command, on a store that it may share with a daemon.
struct IdentitySession {
    let session: AuthSession
    let loop: EventLoop
    private let patience: Duration
    private let redirectURI: String
    private let configured: ClientConfiguration
    /// True if the tokens come from a `source` in place of an authorization server.
    private let isOfSource: Bool
    /// The authentication scheme of the identity's tokens.
    let scheme: String
    /// The store that has the session; nil where nothing is kept.
    private let store: (any SessionStore)?
    private let storeConfiguration: StoreConfiguration
    /// The stored session, which a login or an import replaces; nil if there is none, or it cannot be read.
    var replaced: ReplacedSession? {
        get async {
            ((try? await store?.load(session.identity)) ?? nil)
                .flatMap { ReplacedSession($0, configured: configured) }
        }
    }

    /// True if the store has nothing of the identity, not even that a session has ended.
    var isUnknownToStore: Bool {
        get async {
            guard let store else { return false }
            do throws(StoreError) {
                return try await store.load(session.identity) == nil
            } catch {
                return false
            }
        }
    }

    /// Opens the store without asking the provider.
    ///
    /// - Parameters:
    ///   - identity: the identity of the session.
    ///   - configuration: the configuration with the store.
    ///   - file: the configuration's path; a daemon that runs by another one has another store.
    ///   - loop: the command's loop.
    ///   - access: the use that is made of the store; none for an identity with a source, of which nothing is stored.
    /// - Throws: a failure of permission for a store in memory, which other processes cannot see; the store's
    ///   own failures.
    init(
        of identity: IdentityConfiguration, in configuration: Configuration, of file: String, loop: EventLoop,
        access: StoreAccess = .full
    ) async throws(CommandFailure) {
        let access = identity.client.source == nil ? access : .none
        let isDetached = access == .none
        guard isDetached || configuration.store.isShared else {
            throw CommandFailure(
                .permission, "the store is in memory, where only the daemon that made it sees it")
        }
        if !isDetached {
            if let problem = configuration.store.strangersProblem {
                throw CommandFailure(.permission, problem)
            }
            if let failure = await Self.strayStore(of: configuration, of: file, loop) { throw failure }
            if let hidden = configuration.store.hiddenSessions { Console.remark(hidden) }
        }
        let sessions = try ConfiguredSessions(
            forCommandOn: configuration, loop: loop,
            keyringKey: isDetached ? nil : try configuration.storeKey(), access: access,
            onTrouble: Console.remark)
        guard let session = sessions.all.first(where: { $0.identity == identity.name }) else {
            throw CommandFailure(.failure, "\(identity.name): no session")
        }
        // Without the store a command can do nothing, and its caller would not wait until an outage is over.
        try await sessions.probeStore(for: access == .forReplacing ? .writing : .reading)
        store = isDetached ? nil : sessions.store
        storeConfiguration = configuration.store
        self.session = session
        self.loop = loop
        patience = configuration.timeouts.tokenWait
        redirectURI = identity.redirectURI.registered
        configured = identity.client
        isOfSource = identity.client.source != nil
        scheme = identity.client.source?.scheme ?? RequestAuthorization.Field().scheme
    }

    /// The failure for a directory that a running daemon had, and that is gone, or that is not the daemon's; nil for any other.
    ///
    /// One that is made anew would be in the way of whoever puts the old one back, and what is stored beside the daemon helps nobody.
    private static func strayStore(
        of configuration: Configuration, of file: String, _ loop: EventLoop
    ) async -> CommandFailure? {
        guard let directory = configuration.store.directory else { return nil }
        let isMissing = (try? StoreDirectory.exists(directory)) == false
        guard isMissing || configuration.store.isInStandardDirectory,
            let client = AdminClient(configuration.admin, listen: configuration.listen, loop: loop),
            case .own(let daemon)? = try? await client.daemon(of: file)
        else { return nil }
        if let theirs = daemon.otherStore(than: directory) {
            return CommandFailure(
                .permission,
                "the daemon that runs by \(file) keeps its sessions in \(theirs), and not in \(directory)")
        }
        guard isMissing else { return nil }
        var failure = CommandFailure(
            .inputOutput,
            "store.directory: \(directory) is not there, and is not made anew beside the daemon that runs by \(file); put it back, "
                + "or mkdir -m 700 it")
        failure.mayBeDaemons = true
        return failure
    }

    /// Returns an unexpired token: the stored one or, if that is due for a refresh, a new one, which is
    /// stored first.
    func freshToken() async throws(CommandFailure) -> AccessTokenSnapshot {
        try await perform { session throws(TokenError) in
            try await session.renewedToken(waitingAtMost: patience)
        }
    }

    /// Returns the latest id token, after a refresh if the access token has expired.
    ///
    /// - Throws: a failure of permission if the provider sent none.
    func idToken() async throws(CommandFailure) -> Secret {
        _ = try await freshToken()
        guard let token = await session.idToken else {
            throw CommandFailure(
                .permission,
                "\(session.identity): there is no id token; it comes with a login that asks for the scope openid"
            )
        }
        return token
    }

    /// Gets a new token whatever the current one's expiry, and stores it.
    ///
    /// - Returns: the status of the identity afterwards.
    func refresh() async throws(CommandFailure) -> SessionStatus {
        try await perform { session throws(TokenError) in
            try await session.refresh(waitingAtMost: patience)
        }
        return await session.status
    }

    /// Fetches the claims about the user, with a fresh token.
    func userinfo() async throws(CommandFailure) -> JSONObject {
        await session.start()
        do throws(SessionFailure) {
            return try await session.userinfo(waitingAtMost: patience).claims
        } catch {
            throw await failure(error)
        }
    }

    /// Receives the outcome of a command; `goesOn` is true if work remains to be finished after it.
    typealias HandOver = @Sendable (_ outcome: Result<String, CommandFailure>, _ goesOn: Bool) -> Void

    /// The longest time for which storing is retried after the command has ended.
    private static let longestSaving: Duration = .seconds(300)

    /// Ends the session and hands over `outcome`, before the end if work remains to be finished.
    func end(with outcome: Result<String, CommandFailure>, _ handOver: HandOver) async {
        let isBusy = await session.isBusy
        if isBusy { handOver(outcome, true) }
        await session.stop(savingFor: Self.longestSaving)
        if !isBusy { handOver(outcome, false) }
    }

    /// Makes a forked copy finish what it has begun, and nothing else, when the command is interrupted.
    ///
    /// - Returns: the signal source, which the caller keeps.
    func finish(whenEnded copy: ForkedProcess) -> SignalSource? {
        guard copy.isCopy else { return nil }
        // Where the loop takes no signal the copy dies of it.
        return try? SignalSource(SIGTERM, loop: loop) { [session, loop] in
            copy.stayBehind()
            Task(executorPreference: loop) { await session.stop(savingFor: Self.longestSaving) }
        }
    }

    /// Revokes tokens and forgets them.
    func revoke(_ hints: [TokenHint]) async throws(CommandFailure) -> [TokenHint] {
        let outcome: Result<[TokenHint], SessionFailure>
        do throws(SessionFailure) {
            outcome = .success(try await session.revoke(hints))
        } catch {
            outcome = .failure(error)
        }
        return try Self.value(of: outcome, await session.status)
    }

    /// Forgets the session, then asks the provider to do the same, unless `isLocal`.
    func logOut(onlyHere isLocal: Bool) async -> LogoutOutcome {
        await session.logOut(onlyHere: isLocal)
    }

    /// Forgets the session; the provider is asked to redirect the browser to `redirectURI` with `state` after
    /// its logout.
    func logOut(returningTo redirectURI: String, state: String?) async -> LogoutOutcome {
        await session.logOut(returningTo: redirectURI, state: state)
    }

    /// Makes an imported session the identity's.
    ///
    /// - Parameter clientID: the client to which it stays bound; nil for the identity's.
    /// - Returns: true if anything changed.
    func take(_ imported: ImportedSession, of clientID: String?) async throws(CommandFailure) -> Bool {
        do throws(StoreError) {
            return try await session.take(
                imported.refreshToken, idToken: imported.idToken, scope: imported.scope,
                clientID: clientID, person: imported.person)
        } catch {
            throw CommandFailure(
                error == .spentImport ? .badData : error.exitStatus, "\(session.identity): \(error.reason)")
        }
    }

    /// Begins a login whose answer arrives as a URL, and stores the request for later.
    ///
    /// - Returns: the URL for the browser, and the lifetime of a pushed request; nil if it is not limited.
    func beginLogin(
        redirectURI: String
    ) async throws(CommandFailure) -> (url: String, lifetime: Duration?) {
        let request: AuthorizationRequest
        do throws(TokenFailure) {
            request = try await session.authorizationRequest(redirectURI: redirectURI)
        } catch {
            throw CommandFailure(error, of: session.identity)
        }
        do throws(StoreError) {
            try await session.keep(request)
        } catch {
            throw CommandFailure(error.exitStatus, "\(session.identity): \(error.reason)")
        }
        await session.stop()
        return (request.url, request.expiry.map { $0 - .now })
    }

    /// Finishes a login whose code was stored, or whose answer is `response` or else a line of standard
    /// input.
    ///
    /// - Returns: nil if no login waits.
    func exchange(_ response: String?) async throws(CommandFailure) -> Login? {
        let login: Result<Login?, CommandFailure>
        let storeWait = await StoreWait(of: session, loop: loop)
        var response = response
        if response == nil, await session.pendingCode() == nil, await session.pendingRequest() != nil {
            response = readLine()
        }
        do throws(LoginError) {
            if let response {
                login = .success(try await session.logIn(withResponse: response))
            } else {
                login = .success(try await session.logInWithPendingCode())
            }
        } catch {
            login = .failure(CommandFailure(error, of: session.identity))
        }
        await storeWait.end()
        return try login.get()
    }

    /// Registers a client at the provider.
    func register() async throws(CommandFailure) -> ClientRegistration {
        let outcome: Result<ClientRegistration, SessionFailure>
        do throws(SessionFailure) {
            outcome = .success(try await session.register(redirectURI: redirectURI))
        } catch {
            outcome = .failure(error)
        }
        return try Self.value(of: outcome, await session.status)
    }

    private static func value<Value>(
        of outcome: Result<Value, SessionFailure>, _ status: SessionStatus
    ) throws(CommandFailure) -> Value {
        switch outcome {
        case .success(let value): return value
        case .failure(let error): throw CommandFailure(error, of: status)
        }
    }

    private func perform<Value: Sendable>(
        _ action: (AuthSession) async throws(TokenError) -> Value
    ) async throws(CommandFailure) -> Value {
        await session.start()
        do throws(TokenError) {
            return try await action(session)
        } catch {
            throw await failure(.token(error))
        }
    }

    /// Makes the failure for the caller.
    private func failure(_ error: SessionFailure) async -> CommandFailure {
        let status = await session.status
        // An attempt that has failed says more than the next, which is under way.
        var failure = CommandFailure(
            error, of: status, unanswered: status.lastError == nil ? await unanswered : nil,
            isOfSource: isOfSource)
        let waits = await session.awaitsLock
        // Whoever keeps the lock waits for the disk.
        if waits || status.lastError?.storeError?.isBusy == true, let trouble = storeConfiguration.diskTrouble
        {
            failure.message += "; \(trouble)"
        }
        return failure
    }

    /// The party that kept us waiting, in words.
    private var unanswered: String? {
        get async {
            let rest =
                isOfSource
                ? " (timeouts.token_wait)" : "; if it still does, what it brings is stored"
            if await session.awaitsLock {
                return "another process keeps the session's lock ('bearerd status' tells which)"
            }
            return await session.unanswered.map {
                "\($0) has not answered within \(patience.inSeconds)\(rest)"
            }
        }
    }
}

extension ConfiguredSessions {
    /// Opens the sessions of a command, without a log: the command prints its failures itself.
    init(
        forCommandOn configuration: Configuration, loop: EventLoop, keyringKey: Secret?,
        access: StoreAccess, onTrouble: (@Sendable (String) -> Void)? = nil
    ) throws(CommandFailure) {
        do {
            try HTTPClientLibrary.initialize()
            try? CurrentProcess.forbidDumps()  // where that cannot be had, the command is of use all the same
            try self.init(
                configuration: configuration, loop: loop,
                log: Log(level: .error, format: .text, sink: NoSink()), keyringKey: keyringKey,
                onTrouble: onTrouble, access: access)
        } catch {
            throw CommandFailure(error)
        }
    }
}

extension StoreConfiguration {
    /// True if other processes can open the store.
    var isShared: Bool {
        switch self {
        case .file, .redis: true
        case .memory: false
        }
    }
}

/// Drops the log of a command, whose line of error says what matters.
private struct NoSink: LineSink {
    func write(_ lines: [UInt8]) {}
}
