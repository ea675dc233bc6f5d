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
    /// - Throws: ``SessionFailure``; the session goes on then. A client that the store did not take stays at the server, where nobody
    ///   uses it; a store that does not answer may still write it.
    public func register(redirectURI: String) async throws(SessionFailure) -> ClientRegistration {
        join()
        switch await core.perform(.register(redirectURI: redirectURI)) {
        case .registered(let registration): return registration
        case .refused(let failure): throw .server(failure)
        case .failed(let error), .unwritten(let error): throw .store(error)
        case .done, .unchanged, .outdone, .loggedOut, .revoked: throw .store(.outdated)
        }
    }

    /// The client that logs in; the session may belong to another one.
    var ownClient: ClientConfiguration { engine.ownClient }

    /// The end of the secret that an authorization server gave to the registered client; nil if it did not say.
    package var clientSecretExpiry: WallTime? { engine.registration?.secretExpiry }

    /// The server for requests of the client that logs in.
    var loginServer: AuthorizationServer {
        let client = ownClient
        guard server.configuration != client else { return server }
        return server.asked(by: client, secret: engine.registration?.clientSecret)
    }
}

extension ClientRegistration {
    /// How long before its end a client secret is warned of.
    static let warningTime: Duration = .seconds(14 * 24 * 3600)
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
