// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
import BearerdJSONText

/// Logins. The present session stays as it is until the last step replaces it.
extension AuthSession {
    /// How long a command tries to store its login.
    private static let longestStoreWait: Duration = .seconds(300)
    private static let longestLoginAnswer: Duration = .seconds(60)
    private static let storeTry: Duration = .seconds(2)

    // MARK: Browser

    /// An authorization request for a browser, pushed to the server first (RFC 9126) if that is configured or required.
    ///
    /// - Parameters:
    ///   - redirectURI: where the response is awaited.
    ///   - scope: this login's scope; nil for the configured one. A client that names its scope on each refresh
    ///     (`sendsScopeOnRefresh`) names the configured one then.
    ///   - parameters: further parameters, such as `prompt` or `login_hint`, in place of configured ones of the same names.
    ///   - state: what the response must repeat, in place of a value that is drawn; at least 22 random characters.
    ///   - nonce: what the ID token must repeat, likewise.
    /// - Throws: ``TokenFailure`` if no authorization endpoint is known, the store would refuse the login, a parameter
    ///   clashes with a built-in one, the redirect URI is no absolute URI, or state or nonce are too easy to guess.
    public func authorizationRequest(
        redirectURI: String, scope: [String]? = nil, adding parameters: [NamedValue] = [],
        state: Secret? = nil, nonce: Secret? = nil
    ) async throws(TokenFailure) -> AuthorizationRequest {
        try await prepareLogin()
        return try await loginServer.authorizationRequest(
            redirectURI: redirectURI, adding: LoginAdditions(scope: scope, parameters: parameters),
            marks: LoginMarks(state: state, nonce: nonce))
    }

    /// The request, pushed anew if it was pushed; its state stays the same, so that the earlier URL works too.
    ///
    /// - Throws: ``TokenFailure`` if the server does not take it.
    public func renewed(
        _ request: AuthorizationRequest
    ) async throws(TokenFailure) -> AuthorizationRequest {
        request.expiry == nil ? request : try await server.push(request)
    }

    /// Exchanges the code of a login for tokens, and makes them the session.
    ///
    /// - Parameters:
    ///   - code: that of the authorization response.
    ///   - parameters: further parameters of the token request.
    /// - Throws: ``LoginError``; the present session stays.
    @discardableResult
    public func logIn(
        with code: AuthorizationCode, adding parameters: [NamedValue] = []
    ) async throws(LoginError) -> Login {
        try requireOwn(code.binding)
        // A code is good for one use.
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        let login = Task { () -> Result<Login, LoginError> in
            do throws(LoginError) {
                return .success(try await redeem(code, adding: parameters))
            } catch {
                return .failure(error)
            }
        }
        // A stopping session waits for this request, because nobody can repeat it.
        await core.leave(behind: Task { _ = await login.value })
        return try await withTaskCancellationHandler {
            await login.value
        } onCancel: {
            login.cancel()
        }.get()
    }

    /// Refuses a code of another server, which could use it (RFC 9700 §4.4), or of another client.
    ///
    /// - Parameter binding: the server and client that the code is for (``ClientConfiguration/binding``); nil if not known.
    private func requireOwn(_ binding: String?) throws(LoginError) {
        guard ownClient.binding.hasSameBytes(as: binding ?? ownClient.binding) else {
            throw .failed(
                TokenFailure(
                    .final, .superseded,
                    detail:
                        "this login began at another server, or for another client, than are configured by now; begin again"
                ))
        }
    }

    /// How long the answer is awaited that brings a login: the code is spent with the request, so that giving up early would
    /// cost the person the login.
    private var answerLimit: Duration {
        max(loginServer.configuration.tokenTimeLimit, Self.longestLoginAnswer)
    }

    private func redeem(
        _ code: AuthorizationCode, adding parameters: [NamedValue]
    ) async throws(LoginError) -> Login {
        let grant = Grant.authorizationCode(code)
        let scope = code.additions.scope ?? ownClient.loginScope
        let bringsIDToken = scope.contains(Scope.openID)
        let server = loginServer
        if bringsIDToken { try await prepareKeys(of: server) }
        let outcome = await server.requestToken(
            with: grant, adding: TokenAdditions(parameters: parameters),
            proving: code.proofKey.flatMap { try? ProofKey(parsing: $0) }, waitingAtMost: answerLimit)
        return try await finish(
            outcome, of: grant, from: server, nonce: bringsIDToken ? code.nonce : nil,
            beside: code.additionalParameters, askingFor: code.additions)
    }

    /// Fetches the keys that will verify the ID token.
    ///
    /// Once the code is spent, their failure would cost the person the login. A server that never has any may send no ID token
    /// either.
    private func prepareKeys(of server: AuthorizationServer) async throws(LoginError) {
        do throws(TokenFailure) {
            try await server.publishedKeys.prepare(fetchingWith: server)
        } catch  where error.kind == .transient {
            throw .failed(error)
        } catch {}
    }

    // MARK: Device

    /// Makes a device authorization request (RFC 8628 §3.1).
    ///
    /// - Parameters:
    ///   - scope: this login's scope; nil for the configured one.
    ///   - parameters: further parameters, in place of configured ones of the same names.
    /// - Throws: ``TokenFailure``.
    public func authorizeDevice(
        scope: [String]? = nil, adding parameters: [NamedValue] = []
    ) async throws(TokenFailure) -> DeviceAuthorization {
        try await prepareLogin()
        return try await loginServer.authorizeDevice(
            adding: LoginAdditions(scope: scope, parameters: parameters))
    }

    /// Polls until the person has decided, and makes the tokens the session.
    ///
    /// - Parameters:
    ///   - device: the authorization that the person was shown.
    ///   - parameters: further parameters of the token requests.
    /// - Throws: ``LoginError``; the present session stays.
    @discardableResult
    public func logIn(
        with device: DeviceAuthorization, adding parameters: [NamedValue] = []
    ) async throws(LoginError) -> Login {
        try requireOwn(device.binding)
        let server = loginServer
        var polling = DevicePolling(interval: device.interval)
        var key: ProofKey?
        let grant = Grant.deviceCode(device.code, verifier: device.verifier)
        // The last failure, if it says nothing of the person.
        var trouble: TokenFailure?
        while true {
            let next = clock.now + polling.interval
            try await sleep(until: min(next, device.expiry))
            guard next < device.expiry else { throw trouble.map(LoginError.failed) ?? .expired }
            guard !isStopped else { throw .unstored(.stopped) }
            let outcome = await server.requestToken(
                with: grant, adding: TokenAdditions(parameters: parameters), proving: key,
                waitingAtMost: answerLimit)
            key = outcome.proofKey ?? key
            // What came beside an access token of no use is kept: the code is spent.
            guard case .failure(let failure) = outcome.result, outcome.remainder == nil else {
                return try await finish(
                    outcome, of: grant, from: server, nonce: nil, beside: device.additionalParameters,
                    askingFor: device.additions)
            }
            guard try polling.continues(after: failure) else {
                reportRequest(grant, outcome.result)
                throw .failed(failure)
            }
            trouble = failure.tellsNothing ? failure : nil
        }
    }

    /// Reads the registered client, and throws if the store would refuse the login.
    private func prepareLogin() async throws(TokenFailure) {
        if !isStarted { await core.look() }
        if let refusal = await storeRefusal() { throw TokenFailure(refusal) }
    }

    /// The error for which the store takes no session before a person has acted, or none of a stopped one; nil if it takes one.
    package func storeRefusal() async -> StoreError? { isStopped ? .stopped : await core.refusal() }

    private func sleep(until moment: Instant) async throws(LoginError) {
        do throws(CancellationError) {
            try await clock.sleep(until: moment)
        } catch {
            throw .cancelled
        }
    }

    // MARK: The last step

    func finish(
        _ outcome: TokenRequestResult, of grant: Grant, from server: AuthorizationServer, nonce: Secret?,
        beside additional: AdditionalParameters, askingFor additions: LoginAdditions = LoginAdditions()
    ) async throws(LoginError) -> Login {
        var response: TokenResponse
        do throws(TokenFailure) {
            if let remainder = outcome.remainder, case .failure = outcome.result {
                response = remainder
            } else {
                response = try outcome.result.get()
            }
            do throws(TokenFailure) {
                try await server.judgeIDToken(of: response, askedFor: additions, .login(nonce: nonce))
            } catch {
                await revoke(refused: response, at: server)
                throw error
            }
            response.scope = response.scope ?? additions.scope
            // An empty scope leaves the choice to the server.
            response.loginScope = additions.scope.flatMap { $0.isEmpty ? nil : $0 }
            response.isLoginScopeOwn = response.loginScope != nil && !additions.isScopeConfigured
            response.additionalParameters = additional.updated(with: response.additionalParameters)
        } catch {
            reportRequest(grant, .failure(error))
            throw .failed(error)
        }
        reportRequest(grant, outcome.result)
        do throws(StoreError) {
            try await adopt(login: response, sentAt: outcome.sentAt, wall: outcome.wall)
        } catch {
            throw .unstored(error)
        }
        let idToken = response.idToken.flatMap { try? IDToken(parsing: $0) }
        return Login(
            hasRefreshToken: response.refreshToken != nil, hasIDToken: response.idToken != nil,
            personName: idToken?.personName)
    }

    /// Has the server forget the tokens of a login that is not believed, unless a session stands, which some servers end with
    /// them; nobody waits for that.
    private func revoke(refused response: TokenResponse, at server: AuthorizationServer) async {
        guard session.refreshToken == nil else { return }
        let (token, hint) = response.revocable
        let revocation = Task { await forget(token, hint, at: server) }
        await core.leave(behind: revocation)
    }

    /// Makes a finished login the session, in place of everything before: stored under the store's lock, then used.
    ///
    /// A login that cannot be stored is used from memory, and storing it is tried again; a command waits for that, unless
    /// only a person can help.
    ///
    /// - Parameters:
    ///   - response: the checked token response.
    ///   - sentAt: when the token request was sent; the lifetime counts from here.
    ///   - wall: the civil time at `sentAt`.
    /// - Throws: ``StoreError`` if it could not be stored yet.
    package func adopt(
        login response: TokenResponse, sentAt: Instant, wall: WallTime
    ) async throws(StoreError) {
        join()
        let command = EngineCommand.login(response, target, sentAt: sentAt, wall: wall)
        let end = clock.now + Self.longestStoreWait
        var result = await core.perform(command)
        let origin = session.origin
        var isTold = false
        while case .unwritten(let trouble) = result {
            guard !isStarted, !isStopped, !trouble.isRefused, !isStoreWaitOver, clock.now < end else {
                throw trouble
            }
            if !isTold { onStoreWait?(Self.longestStoreWait) }
            isTold = true
            if !trouble.isBusy {
                guard (try? await clock.sleep(until: clock.now + Self.storeTry)) != nil else { throw trouble }
            }
            result = await core.perform(.write)
            // Somebody else has begun a session meanwhile.
            guard session.origin == origin else { throw .outdated }
        }
        if case .outdone = result { throw .outdated }
    }

    /// Has `tell` hear once a login waits for the store, with how long it does at most.
    package func watchStoreWait(_ tell: @escaping @Sendable (Duration) -> Void) { onStoreWait = tell }

    /// Has a login that waits for the store give up soon.
    package func endStoreWait() { isStoreWaitOver = true }
}
