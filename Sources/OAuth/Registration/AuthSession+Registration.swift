// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// How the client comes to be known to the server (RFC 7591).
extension AuthSession {
    /// Has the server make a client, stores it, and is that client from then on; so is every other process.
    ///
    /// A session that there was belongs to the client before, and ends.
    ///
    /// - Parameter redirectURI: where logins come back to.
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

    /// The client that logs in, which need not be the one that the session belongs to.
    var ownClient: ClientConfiguration { state.ownClient }

    /// The server as a login asks it: what another client began is that client's to the end, and nobody's after it.
    var loginServer: AuthorizationServer {
        let client = ownClient
        guard server.configuration != client else { return server }
        return server.asked(by: client, secret: state.registration?.clientSecret)
    }

    /// Asks the server as the client that the session belongs to.
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
    /// A secret that ends sooner is warned of.
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
            // Keycloak refuses `openid`, others may refuse another word of it: what clients may ask for is theirs to say.
            var plain = configuration
            plain.scope = []
            request.body = body(plain)
            response = try await send(request)
        }
        return try RegistrationResponse(response, of: configuration).registration
    }
}
