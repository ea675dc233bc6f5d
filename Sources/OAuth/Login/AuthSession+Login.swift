// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// Logins: how they begin, and how a finished one becomes the session.
///
/// None of this touches the session that there is before the last step, which replaces it.
extension AuthSession {
    /// How long a command whose login cannot be stored goes on trying.
    private static let longestStoreWait: Duration = .seconds(300)
    private static let storeTry: Duration = .seconds(2)

    // MARK: In a browser

    /// A request for a browser to make, with random values of its own; it is pushed to the server first (RFC 9126) where
    /// that is configured or required, and then has an ``AuthorizationRequest/expiry``.
    ///
    /// - Parameters:
    ///   - redirectURI: where the answer is awaited.
    ///   - scope: what this login asks for in place of the configured scope; nil for that. A client that names its scope on
    ///     each refresh (`sendsScopeOnRefresh`) names the configured one then.
    ///   - parameters: what this login says beside what all say, and in place of parameters of the same names: `prompt`,
    ///     `login_hint`, `max_age` and so on.
    /// - Throws: ``TokenFailure`` if nobody says where the authorization endpoint is, the store would refuse the login, or a
    ///   parameter clashes with what the request says itself.
    public func authorizationRequest(
        redirectURI: String, scope: [String]? = nil, adding parameters: [NamedValue] = []
    ) async throws(TokenFailure) -> AuthorizationRequest {
        try await prepareLogin()
        return try await loginServer.authorizationRequest(
            redirectURI: redirectURI, adding: LoginAdditions(scope: scope, parameters: parameters))
    }

    /// A request that the server has forgotten, pushed anew: what its answer is held against stays the same, so that
    /// whoever has followed the earlier URL may finish too.
    ///
    /// - Returns: the request as it is, if it never was pushed.
    /// - Throws: ``TokenFailure`` if the server does not take it.
    public func renewed(
        _ request: AuthorizationRequest
    ) async throws(TokenFailure) -> AuthorizationRequest {
        request.expiry == nil ? request : try await server.push(request)
    }

    /// Exchanges the code of a login for tokens, and makes them the session.
    ///
    /// - Parameters:
    ///   - code: what the login brought.
    ///   - parameters: what this token request says beside what all say.
    /// - Throws: ``LoginError``; the session that there was goes on.
    @discardableResult
    public func logIn(
        with code: AuthorizationCode, adding parameters: [NamedValue] = []
    ) async throws(LoginError) -> Login {
        // A code is good for one use.
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        let login = Task { () -> Result<Login, LoginError> in
            do throws(LoginError) {
                return .success(try await exchange(code, adding: parameters))
            } catch {
                return .failure(error)
            }
        }
        // The end of the session waits for it, because nobody can repeat it.
        let earlier = leftover
        leftover = Task {
            await earlier?.value
            _ = await login.value
        }
        return try await withTaskCancellationHandler {
            await login.value
        } onCancel: {
            login.cancel()
        }.get()
    }

    private func exchange(
        _ code: AuthorizationCode, adding parameters: [NamedValue]
    ) async throws(LoginError) -> Login {
        let grant = Grant.authorizationCode(code)
        let outcome = await loginServer.requestToken(
            with: grant, adding: TokenAdditions(parameters: parameters),
            proving: code.proofKey.flatMap { try? ProofKey(parsing: $0) })
        reportRequest(grant, outcome)
        let scope = code.additions.scope ?? ownClient.loginScope
        return try await finish(
            outcome, nonce: scope.contains(ClientConfiguration.openID) ? code.nonce : nil,
            beside: code.additionalParameters, askingFor: code.additions)
    }

    /// Keeps a code in the store, for another process to exchange.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ code: AuthorizationCode) async throws(StoreError) {
        try await changeStored { _ in (code, nil) }
    }

    /// Keeps a request in the store whose answer arrives as a URL, for another process to take.
    ///
    /// - Throws: ``StoreError``.
    public func keep(_ request: AuthorizationRequest) async throws(StoreError) {
        try await changeStored { pending in (pending.code, request.encoded()) }
    }

    /// The request whose answer is awaited as a URL, if there is one for this client.
    public func pendingRequest() async -> AuthorizationRequest? {
        await adoptStored()
        return state.session.pendingRequest.flatMap { AuthorizationRequest(decoding: $0) }
    }

    /// Logs in with the answer to the request that waits in the store.
    ///
    /// - Parameter url: what was opened in answer.
    /// - Returns: nil if no request waits.
    /// - Throws: ``LoginError``; the session that there was goes on, and a URL that is no answer leaves the request waiting.
    public func logIn(withAnswer url: String) async throws(LoginError) -> Login? {
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        guard let request = await pendingRequest() else { return nil }
        let response: AuthorizationResponse
        do throws(AuthorizationResponseError) {
            response = try request.response(to: url)
        } catch {
            throw .failed(
                TokenFailure(.final, .badRedirectURI, detail: "this URL is no answer: \(error.sentence)"))
        }
        do throws(LoginError) {
            return try await logIn(with: response)
        } catch {
            if error.isFinal { try? await changeStored { pending in (pending.code, nil) } }
            throw error
        }
    }

    /// The code that waits in the store to be exchanged, if there is one for this client.
    public func pendingCode() async -> AuthorizationCode? {
        await adoptStored()
        return state.session.pendingCode
    }

    /// Exchanges the code that waits in the store; one that the server refused waits no longer.
    ///
    /// - Returns: nil if none waits.
    /// - Throws: ``LoginError``; the session that there was goes on.
    public func logInWithPendingCode() async throws(LoginError) -> Login? {
        if let refusal = await storeRefusal() { throw .unstored(refusal) }
        guard let code = await pendingCode() else { return nil }
        do throws(LoginError) {
            return try await logIn(with: code)
        } catch {
            if error.isFinal, await storeRefusal() == nil { try? await forget(code) }
            throw error
        }
    }

    /// Takes a code that is of no more use out of the store, unless there is a newer one.
    ///
    /// - Throws: ``StoreError``.
    public func forget(_ code: AuthorizationCode) async throws(StoreError) {
        try await changeStored { pending in
            let isSame =
                pending.code?.verifier.withPlaintext { code.verifier.matches(Array($0.utf8)) } ?? false
            return (isSame ? nil : pending.code, pending.request)
        }
    }

    // MARK: On another device

    /// Asks for a code that a person types in elsewhere (RFC 8628 §3.1).
    ///
    /// - Parameters:
    ///   - scope: what this login asks for in place of the configured scope; nil for that.
    ///   - parameters: what this login says beside what all say, and in place of parameters of the same names.
    /// - Throws: ``TokenFailure``.
    public func authorizeDevice(
        scope: [String]? = nil, adding parameters: [NamedValue] = []
    ) async throws(TokenFailure) -> DeviceAuthorization {
        try await prepareLogin()
        return try await loginServer.authorizeDevice(
            adding: LoginAdditions(scope: scope, parameters: parameters))
    }

    /// Waits for the person's decision, asking as often as the server allows, and makes the tokens the session.
    ///
    /// - Parameters:
    ///   - device: what the person was shown.
    ///   - parameters: what these token requests say beside what all say.
    /// - Throws: ``LoginError``; the session that there was goes on.
    @discardableResult
    public func logIn(
        with device: DeviceAuthorization, adding parameters: [NamedValue] = []
    ) async throws(LoginError) -> Login {
        let server = loginServer
        var pace = DevicePace(interval: device.interval)
        var key: ProofKey?
        let grant = Grant.deviceCode(device.code, verifier: device.verifier)
        while true {
            let next = clock.now + pace.interval
            try await sleep(until: min(next, device.expiry))
            guard next < device.expiry else { throw .expired }
            let outcome = await server.requestToken(
                with: grant, adding: TokenAdditions(parameters: parameters), proving: key)
            key = outcome.proofKey ?? key
            switch outcome.result {
            case .success:
                reportRequest(grant, outcome)
                return try await finish(
                    outcome, nonce: nil, beside: device.additionalParameters,
                    askingFor: device.additions)
            case .failure(let failure):
                guard try pace.goesOn(after: failure) else {
                    reportRequest(grant, outcome)
                    throw .failed(failure)
                }
            }
        }
    }

    /// The client that logs in may be one that was registered; and nobody is troubled for a login that cannot be kept.
    private func prepareLogin() async throws(TokenFailure) {
        if !isStarted { await adoptStored() }
        if let refusal = await storeRefusal() { throw TokenFailure(refusal) }
    }

    /// Why the store takes no session of this identity before a person has acted; nil if it does.
    package func storeRefusal() async -> StoreError? {
        do throws(StoreError) {
            _ = try await store.load(identity)
            return nil
        } catch {
            return error.isRefused ? error : nil
        }
    }

    private func sleep(until moment: Instant) async throws(LoginError) {
        do throws(CancellationError) {
            try await clock.sleep(until: moment)
        } catch {
            throw .failed(TokenFailure(.transient, .cancelled, detail: "the login was given up"))
        }
    }

    // MARK: The last step

    func finish(
        _ outcome: TokenOutcome, nonce: Secret?, beside additional: AdditionalParameters,
        askingFor additions: LoginAdditions = LoginAdditions()
    ) async throws(LoginError) -> Login {
        var grant: TokenGrant
        do throws(TokenFailure) {
            if let remainder = outcome.remainder, case .failure = outcome.result {
                grant = remainder
            } else {
                grant = try outcome.result.get()
            }
            try await loginServer.judgeIDToken(of: grant, askedFor: additions, .login(nonce: nonce))
            grant.scope = grant.scope ?? additions.scope
            // A program that names none leaves it to the server.
            grant.loginScope = additions.scope.flatMap { $0.isEmpty ? nil : $0 }
            grant.additionalParameters = additional.updated(with: grant.additionalParameters)
        } catch {
            throw .failed(error)
        }
        do throws(StoreError) {
            try await adopt(login: grant, sentAt: outcome.sentAt, wall: outcome.wall)
        } catch {
            throw .unstored(error)
        }
        let idToken = grant.idToken.flatMap { try? IDToken(parsing: $0) }
        return Login(
            hasRefreshToken: grant.refreshToken != nil, hasIDToken: grant.idToken != nil,
            person: idToken?.person)
    }

    /// Makes a finished login the session: stored under the store's lock, then used, here and by every other process.
    ///
    /// What the identity had before is replaced, final answers included. What a login brought is never thrown away: while
    /// it cannot be stored it is used from memory, and storing it is tried again; a command waits for that, unless only a
    /// person can help.
    ///
    /// - Parameters:
    ///   - grant: what the login brought, already checked.
    ///   - sentAt: when the token request was sent; the lifetime counts from then.
    ///   - wall: the civil clock at that moment.
    /// - Throws: ``StoreError`` if it could not be stored yet.
    package func adopt(login grant: TokenGrant, sentAt: Instant, wall: WallTime) async throws(StoreError) {
        await supersede(for: .login)
        let failure = await withLock(waits: personsLockWaits) { lock in
            await adopt(grant, sentAt: sentAt, wall: wall, under: lock)
        }
        family.endTurn()
        guard var trouble = failure else { return advance() }
        let end = clock.now + Self.longestStoreWait
        while !isStarted, state.needsSaving, !trouble.isRefused, clock.now < end {
            if !trouble.isBusy {
                guard (try? await clock.sleep(until: clock.now + Self.storeTry)) != nil else { break }
            }
            await saveAgain()
            trouble = state.lastStoreError ?? trouble
        }
        advance()
        if state.needsSaving { throw trouble }
    }

    /// - Returns: why it is not stored.
    private func adopt(
        _ grant: TokenGrant, sentAt: Instant, wall: WallTime, under lock: LockOutcome
    ) async -> StoreError? {
        let place = await place(under: lock)
        let (session, token) = state.login(grant, sentAt: sentAt, wall: wall, jitter: random())
        let trouble: StoreError?
        switch place {
        case .success:
            trouble = await saving(session, over: place)
        case .failure(let error):
            keepUnsaved(session)
            trouble = error
        }
        state.loggedIn(session, with: token, isSaved: trouble == nil)
        followClient()
        return trouble
    }

    /// Changes what waits in the store, under the store's lock.
    private func changeStored(
        _ change: ((code: AuthorizationCode?, request: Secret?)) -> (AuthorizationCode?, Secret?)
    ) async throws(StoreError) {
        try await withLockForPerson { lock throws(StoreError) in
            let held = try await readStored(under: lock)
            let (code, request) = change((state.session.pendingCode, state.session.pendingRequest))
            let session = state.keeping(code, or: request, over: held.stored)
            try await held.save(session)
            state.kept(session)
        }
    }
}
