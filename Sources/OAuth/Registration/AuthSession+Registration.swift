// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages

/// Dynamic client registration (RFC 7591).
extension AuthSession {
    /// Registers a client and stores it; this and every other process is that client from then on.
    ///
    /// The present session belongs to the client before, and ends.
    ///
    /// - Parameter redirectURI: that of logins.
    /// - Throws: ``SessionFailure``; nothing has changed then.
    public func register(redirectURI: String) async throws(SessionFailure) -> ClientRegistration {
        let registration = try await withLockForPerson { lock throws(SessionFailure) in
            let held = try await readForPerson(under: lock)
            let registration = try await requestRegistration(redirectURI)
            let fresh = state.registering(registration)
            let failure = await saving(fresh, over: .success(held))
            state.ended(fresh, isSaved: failure == nil)
            followClient()
            if let failure { throw .store(failure) }
            return registration
        }
        advanceIfStarted()
        return registration
    }

    private func requestRegistration(
        _ redirectURI: String
    ) async throws(SessionFailure) -> ClientRegistration {
        do throws(TokenFailure) {
            return try await server.register(as: state.configured, redirectURI: redirectURI)
        } catch {
            throw .server(error)
        }
    }

    /// The client that logs in; the session may belong to another one.
    var ownClient: ClientConfiguration { state.ownClient }

    /// The end of the secret that a provider gave to the registered client; nil if it did not say.
    package var clientSecretExpiry: WallTime? { state.registration?.secretExpiry }

    /// The server for requests of the client that logs in.
    var loginServer: AuthorizationServer {
        let client = ownClient
        guard server.configuration != client else { return server }
        return server.asked(by: client, secret: state.registration?.clientSecret)
    }

    /// Makes the server's requests those of the client that the session belongs to.
    func followClient() {
        guard server.configuration != state.configuration else { return }
        let registration = state.registration
        server.become(state.configuration, secret: state.presentedSecret)
        guard let expiry = registration?.secretExpiry,
            expiry - clock.wallNow < ClientRegistration.warningTime
        else { return }
        report(.clientSecretExpires(expiry))
    }
}

extension ClientRegistration {
    /// How long before its end a client secret is warned of.
    fileprivate static let warningTime: Duration = .seconds(14 * 24 * 3600)
}

extension AuthorizationServer {
    func register(
        as configuration: ClientConfiguration, redirectURI: String
    ) async throws(TokenFailure) -> ClientRegistration {
        var request = TransferRequest(
            method: .post, url: try await url(of: .registration), timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.contentType, "application/json")
        request.fields.append(.accept, "application/json")
        if let token = try await credentials.read(.initialAccessToken) {
            RequestAuthorization.authorize(&request, withBearer: token)
        }
        let publicKey = try await credentials.publicKey()
        func body(_ configuration: ClientConfiguration) -> [UInt8] {
            RegistrationRequest(
                configuration: configuration, redirectURI: redirectURI, publicKey: publicKey
            ).body
        }
        request.body = body(configuration)
        var response = try await send(request)
        if response.status == 400 || response.status == 403, !configuration.scope.isEmpty {
            // Keycloak refuses `openid`, and others may refuse another scope token.
            var plain = configuration
            plain.scope = []
            request.body = body(plain)
            response = try await send(request)
        }
        return try RegistrationResponse(response, of: configuration).registration
    }
}
