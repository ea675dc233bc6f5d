// SPDX-License-Identifier: Apache-2.0

package import Cryptography

/// A client that the server made for us (RFC 7591 §3.2.1), as it is stored.
public struct ClientRegistration: Sendable {
    /// `client_id`.
    public var clientID: String
    /// `client_secret`, if the server gave one.
    public var clientSecret: Secret?
    /// When the secret ends; nil if it does not.
    public var secretExpiry: WallTime?
    /// How the client proves itself.
    public var authentication: ClientAuthentication
    /// The `client_id` that was configured at the time, empty if none was: the registration counts until somebody
    /// configures another one.
    public var replacedClientID: String

    /// What else the answer had, such as `client_id_issued_at` and `registration_access_token`.
    public var additionalParameters = AdditionalParameters()

    /// Whether it has the secret that its method needs.
    var isComplete: Bool { clientSecret != nil || !authentication.needsSecret }
}

extension ClientAuthentication {
    /// Whether the client proves itself with a secret that it shares with the server.
    var needsSecret: Bool {
        switch self {
        case .basic, .post, .clientSecretJWT: true
        case .none, .privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth: false
        }
    }
}

extension ClientConfiguration {
    /// The configuration with the client that was registered in place of the configured one, unless that has been
    /// changed since.
    func registered(_ registration: ClientRegistration?) -> ClientConfiguration {
        guard let registration, registration.replacedClientID == clientID else { return self }
        var registered = self
        registered.clientID = registration.clientID
        registered.authentication = registration.authentication
        return registered
    }

    /// - Throws: ``TokenFailure`` if the client is still to be registered.
    func requireClient() throws(TokenFailure) {
        guard clientID.isEmpty, !needsNoClient else { return }
        throw TokenFailure(
            .misconfigured, .notRegistered,
            detail: "there is no client_id: register a client, or configure one")
    }
}
