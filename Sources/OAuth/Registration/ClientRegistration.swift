// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdJSONText

/// A registered client (RFC 7591 §3.2.1), as it is stored.
public struct ClientRegistration: Sendable {
    /// `client_id`.
    public var clientID: String
    /// `client_secret`; nil if there is none.
    public var clientSecret: Secret?
    /// When the secret expires; nil for never.
    public var secretExpiry: WallTime?
    /// The method of client authentication.
    public var authentication: ClientAuthentication
    /// The `client_id` that was configured at the time, or an empty string; the registration counts while it stays.
    public var replacedClientID: String
    /// Further members of the response, such as `registration_access_token`.
    public var additionalParameters = AdditionalParameters()

    /// True if it has the secret that its method needs.
    var isComplete: Bool { clientSecret != nil || !authentication.needsSecret }
}

extension ClientAuthentication {
    /// True for the methods that need a client secret.
    var needsSecret: Bool {
        switch self {
        case .basic, .post, .clientSecretJWT: true
        case .none, .privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth: false
        }
    }
}

extension ClientConfiguration {
    /// The configuration with the registered client, unless another one has been configured since.
    func registered(_ registration: ClientRegistration?) -> ClientConfiguration {
        guard let registration, registration.replacedClientID.hasSameBytes(as: clientID) else { return self }
        var registered = self
        registered.clientID = registration.clientID
        registered.authentication = registration.authentication
        return registered
    }

    /// Throws a ``TokenFailure`` if the client is still to be registered.
    func requireClient() throws(TokenFailure) {
        guard clientID.isEmpty, !needsNoClient else { return }
        throw TokenFailure(
            .misconfigured, .notRegistered,
            detail: "there is no \(name(of: .clientID)): register a client, or configure one")
    }
}
