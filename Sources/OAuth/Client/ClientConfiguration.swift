// SPDX-License-Identifier: Apache-2.0

public import BearerdHTTPMessages
package import BearerdJSON

/// The settings of one identity, without its secrets.
public struct ClientConfiguration: Equatable, Sendable {
    /// The identity's name, which keys the store.
    public var name: String
    /// True if errors name keys of a configuration file in place of properties of this type.
    package var isOfFile = false
    /// The issuer; compared exactly with the metadata's `issuer`.
    public var issuer: String?
    /// The URL of the only metadata document, in place of those under the issuer.
    public var discoveryURL: HTTPURL?
    /// Endpoints that override discovery; with the token endpoint among them none is needed.
    public var endpoints: [Endpoint: HTTPURL] = [:]
    /// Permits plain HTTP to a server that is not on loopback.
    public var allowsInsecureProvider = false
    /// True if the transport connects to loopback whatever the URL says;
    /// nil if the URL's host decides.
    package var connectsToLoopback: Bool?

    /// `client_id` (RFC 6749 §2.2).
    public var clientID: String
    /// True if there need be no client, because the subject token identifies it.
    public var needsNoClient = false
    /// The method of client authentication.
    public var authentication = ClientAuthentication.none
    /// The encoding of HTTP Basic.
    public var basicEncoding = BasicEncoding.automatic
    /// The grant that begins the session; with a source, its name.
    public var grantType: GrantType
    /// The source of access tokens in place of an authorization server; nil for a token endpoint.
    package var source: TokenSource?
    /// How assertions are made.
    public var assertion = AssertionSettings()
    /// True if connections present a client certificate, so that `mtls_endpoint_aliases` count (RFC 8705 §5).
    public var presentsCertificate = false

    /// The user name of the password grant.
    public var username: String?
    /// The file of the grant's own assertion or subject token; nil for another grant, or one from elsewhere.
    package var grantFile: String?
    /// The type of the subject token (RFC 8693 §3).
    public var subjectTokenType: String?
    /// True if each caller's own token is exchanged (RFC 8693), so that the identity has no token of its own.
    package var exchangesCallersTokens = false
    /// The type of token that a token exchange asks for (RFC 8693 §3).
    public var requestedTokenType: String?

    /// Scope tokens (RFC 6749 §3.3), in the order they are sent.
    public var scope: [String] = []
    /// The `audience` parameter of Auth0 and others, and of RFC 8693.
    public var audience: [String] = []
    /// Resource indicators (RFC 8707).
    public var resource: [String] = []
    /// The resources beside ``resource`` for which tokens will be asked later.
    ///
    /// A login names them too, because a server refuses to narrow what it never granted.
    public var furtherResources: [String] = []
    /// True if scope, audience and resource are a route's; see `aimed(at:)`.
    var isForRoute = false
    /// True if a refresh must name the scope, because it is not that of the session.
    var narrowsScope = false
    /// True if each refresh names the scope (RFC 6749 §6), as a few servers require.
    public var sendsScopeOnRefresh = false
    /// Sent with every authorization request, after the built-in parameters.
    public var authorizationParameters: [NamedValue] = []
    /// Sent with every token request, after the built-in parameters.
    public var tokenParameters: [NamedValue] = []
    /// Sent with every token request; a built-in header of the same name is replaced.
    public var tokenHeaders: [NamedValue] = []

    /// Sent with every device authorization request (RFC 8628 §3.1).
    public var deviceParameters: [NamedValue] = []
    /// Sent with every revocation request (RFC 7009 §2.1).
    public var revocationParameters: [NamedValue] = []
    /// Sent with every request to end the authorization server's session, such as `logout_hint`.
    public var endSessionParameters: [NamedValue] = []
    /// The page after a logout (OpenID Connect RP-Initiated Logout §3).
    public var postLogoutRedirectURI: String?
    /// The `client_name` of a registration; nil for ``name``.
    public var clientName: String?
    /// Further client metadata of a registration (RFC 7591 §2), as strings.
    public var registrationParameters: [NamedValue] = []
    /// Further client metadata of a registration, as JSON.
    package var registrationMetadata = JSONObject()
    /// Sent with every userinfo request.
    public var userinfoHeaders: [NamedValue] = []

    /// When tokens are bound to a key of the session (DPoP, RFC 9449).
    public var proofs = DPoPPolicy.never
    /// When authorization requests are pushed to the server (RFC 9126).
    public var pushedRequests = PushedRequestPolicy.whereRequired
    /// The security profile to keep; nil for none.
    public var profile: SecurityProfile?
    /// Values of `token_type` that count as Bearer, compared without case.
    public var acceptedTokenTypes = ["bearer"]
    /// How long before its expiry a token is renewed; nil for the smaller of 60 s and 20 % of its lifetime.
    public var refreshMargin: Duration?
    /// The lifetime of a token if neither its response nor an earlier one has `expires_in`.
    public var defaultLifetime: Duration = .seconds(300)
    /// How far the server's clock may be from ours when an ID token's expiry is judged.
    public var clockSkew: Duration = .seconds(60)
    /// The time limit of one request to the authorization server, in total.
    public var tokenTimeLimit: Duration = .seconds(10)

    /// A client without a server: set ``issuer`` or endpoints.
    public init(name: String, clientID: String, grantType: GrantType) {
        self.name = name
        self.clientID = clientID
        self.grantType = grantType
    }
}

extension ClientConfiguration {
    var namesScope: Bool { narrowsScope || sendsScopeOnRefresh }

    /// The scope of a login: `openid` if none is configured.
    var loginScope: [String] { scope.isEmpty ? [Scope.openID] : scope }

    /// The resources of a login (RFC 8707 §2.1), those of all routes among them.
    var loginResource: [String] { resource + furtherResources.filter { !resource.contains($0) } }

    var asksForIDToken: Bool { loginScope.contains(Scope.openID) }
}
