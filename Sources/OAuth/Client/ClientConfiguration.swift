// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// All that the engine must know of one identity; already validated, no secret among it.
package struct ClientConfiguration: Equatable, Sendable {
    /// The identity's name in the configuration; keys the store.
    package var name: String
    /// Compared with the metadata's `issuer` exactly, as a string.
    package var issuer: String?
    /// The only metadata document to ask for, in place of those under the issuer.
    package var discoveryURL: HTTPURL?
    /// Endpoints given by hand, which override discovery; with the token endpoint among them none is needed.
    package var endpoints: [Endpoint: HTTPURL] = [:]
    /// Permits plain HTTP to a server that is not on loopback.
    package var allowsInsecureProvider = false
    /// Whether connections really go to loopback, where the transport connects elsewhere than the URL says;
    /// nil where the URL's host decides.
    package var connectsToLoopback: Bool?

    package var clientID: String
    package var authentication = ClientAuthentication.none
    package var basicEncoding = BasicEncoding.automatic
    package var grantType: GrantType
    /// How assertions are made, where the client proves itself or its grant with one.
    package var assertion = AssertionSettings()
    /// Whether connections present a client certificate: then the server's `mtls_endpoint_aliases` count.
    package var presentsCertificate = false

    /// For the password grant.
    package var username: String?
    /// For token exchange: what the subject token is (RFC 8693 §3).
    package var subjectTokenType: String?
    /// For token exchange: what is asked for.
    package var requestedTokenType: String?

    /// Scope tokens (RFC 6749 §3.3), in the order they are sent.
    package var scope: [String] = []
    package var audience: [String] = []
    /// Resource indicators (RFC 8707).
    package var resource: [String] = []
    /// Whether these three are a route's and not the identity's own; see ``aimed(at:)``.
    package internal(set) var isForRoute = false
    /// Whether a refresh must name the scope, because it is not what the session was begun with.
    package internal(set) var narrowsScope = false
    /// Sent with every authorization request, after the built-in parameters.
    package var authorizationParameters: [NamedValue] = []
    /// Sent with every token request, after the built-in parameters.
    package var tokenParameters: [NamedValue] = []
    /// Sent with every token request; a built-in header of the same name is replaced.
    package var tokenHeaders: [NamedValue] = []

    /// Values of `token_type` that are used as Bearer, compared without case.
    package var acceptedTokenTypes = ["bearer"]
    /// How long before expiry a token is renewed; nil means the smaller of 60 s and 20 % of its lifetime.
    package var refreshMargin: Duration?
    /// Of a token whose answer tells no lifetime, when no earlier answer did either.
    package var defaultLifetime: Duration = .seconds(300)
    /// How far the provider's clock may be from ours when an id token's expiry is judged.
    package var clockSkew: Duration = .seconds(60)
    /// The time allowed for one request to the authorization server, in total.
    package var tokenTimeLimit: Duration = .seconds(10)

    package init(name: String, clientID: String, grantType: GrantType) {
        self.name = name
        self.clientID = clientID
        self.grantType = grantType
    }
}
