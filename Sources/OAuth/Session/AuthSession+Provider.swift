// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSONText

/// The requests that the identity makes to the authorization server by this session.
extension AuthSession {
    /// The address of the authorization server that has not answered yet; nil if nothing was sent that it could answer.
    nonisolated var awaitedEndpoint: String? { assumeIsolated { $0.server.pending } }

    /// Makes a token request, unless it must not be sent any more when it or its connection is ready, or is to be repeated.
    ///
    /// - Parameter lease: that of its refresh token; nil if it has none.
    func requestToken(
        with grant: Grant, adding additions: TokenAdditions, proving key: ProofKey?, waitsLong: Bool,
        under lease: (any StoreLease)?, _ ticket: Ticket
    ) async -> TokenRequestReport {
        var wasSent = false
        let core = core
        let maySend: @Sendable () -> Bool = { [executor] in
            guard lease?.isHeld ?? true else { return false }
            Task(executorPreference: executor as? any TaskExecutor) {
                await core.take(.requestConnected(ticket))
            }
            return true
        }
        let outcome = await server.requestToken(
            with: grant, adding: additions, proving: key,
            waitingAtMost: waitsLong ? UnansweredRefresh.longestWait : nil,
            if: lease == nil ? nil : maySend,
            unless: {
                wasSent = core.assumeIsolated { $0.maySend(ticket) }
                return !wasSent
            })
        if outcome.failure?.reason == .superseded { wasSent = false }
        var needsKeys = false
        if case .success(let response) = outcome.result, let idToken = response.idToken {
            needsKeys = server.mayAskForKeys(of: idToken)
        }
        return TokenRequestReport(
            outcome: outcome, wasSent: wasSent, needsKeys: needsKeys, encoding: server.learnedEncoding)
    }

    /// Asks the authorization server something harmless.
    ///
    /// - Returns: nil if it answers.
    func probe() async -> TokenFailure? { await server.probe() }

    /// The authorization server's part of a command.
    func perform(
        _ command: EngineCommand, on stored: StoredSession
    ) async -> Result<CommandResponse, TokenFailure> {
        switch command {
        case .register(let redirectURI):
            do throws(TokenFailure) {
                let client = engine.configured
                return .success(.registered(try await server.register(as: client, redirectURI: redirectURI)))
            } catch {
                return .failure(error)
            }
        case .revoke(let hints):
            let (revoked, failure) = await revoke(hints, of: stored)
            return .success(.revoked(revoked, failure))
        case .login, .logout, .importing, .keeping, .write:
            return .failure(TokenFailure(.transient, .cancelled, detail: "the provider has no part in it"))
        }
    }

    /// Has the authorization server forget a token that nobody has use for, in the name of the client that it was issued to.
    func revoke(leftover token: Secret, _ hint: TokenHint, of client: Asking.Client) async {
        let isOurs = server.configuration.clientID.hasSameBytes(as: client.configuration.clientID)
        let server = isOurs ? server : server.asked(by: client.configuration, secret: client.secret)
        await forget(token, hint, at: server)
    }

    /// Has a server forget a token, if it can.
    func forget(_ token: Secret, _ hint: TokenHint, at server: AuthorizationServer) async {
        do throws(TokenFailure) {
            guard try await server.urlIfAny(of: .revocation) != nil else { return }
            try await server.revoke(token, hint)
        } catch {
            // Nobody waits for it, and nothing of ours depends on it.
        }
    }

    /// Makes the server's requests those of the client that the session belongs to.
    ///
    /// - Parameter isFirst: whether a secret that ends soon is warned of here.
    func follow(
        _ client: ClientConfiguration, _ registration: ClientRegistration?, secret: Secret?, isFirst: Bool
    ) {
        guard server.configuration != client else { return }
        server.become(client, secret: secret)
        guard isFirst, let expiry = registration?.secretExpiry,
            expiry - clock.wallNow < ClientRegistration.warningTime
        else { return }
        core.assumeIsolated { $0.report(.clientSecretExpires(expiry)) }
    }

    func reportRequest(_ grant: Grant, _ result: Result<TokenResponse, TokenFailure>) {
        let type = TokenRequestBody.grantType(of: grant, otherwise: engine.configured.grantType)
        switch result {
        case .success(let grant):
            report(.tokenRequested(type, nil))
            if grant.proofKey != nil, !grant.isBound { report(.tokenNotBound) }
        case .failure(let failure): report(.tokenRequested(type, failure))
        }
    }

    func report(_ event: SessionEvent) { core.assumeIsolated { $0.report(event) } }
}
