// SPDX-License-Identifier: Apache-2.0

public import HTTPMessages
package import JSON

/// All that the engine must know of one identity; already validated, no secret among it.
public struct ClientConfiguration: Equatable, Sendable {
    /// The identity's name in the configuration; keys the store.
    public var name: String
    /// Compared with the metadata's `issuer` exactly, as a string.
    public var issuer: String?
    /// The only metadata document to ask for, in place of those under the issuer.
    public var discoveryURL: HTTPURL?
    /// Endpoints given by hand, which override discovery; with the token endpoint among them none is needed.
    public var endpoints: [Endpoint: HTTPURL] = [:]
    /// Permits plain HTTP to a server that is not on loopback.
    public var allowsInsecureProvider = false
    /// Whether connections really go to loopback, where the transport connects elsewhere than the URL says;
    /// nil where the URL's host decides.
    package var connectsToLoopback: Bool?

    /// `client_id` (RFC 6749 §2.2).
    public var clientID: String
    /// Whether there need be no client: what is exchanged tells whose it is.
    public var needsNoClient = false
    /// How the client proves itself.
    public var authentication = ClientAuthentication.none
    /// What HTTP Basic is made of.
    public var basicEncoding = BasicEncoding.automatic
    /// How the session begins.
    public var grantType: GrantType
    /// How assertions are made, where the client proves itself or its grant with one.
    public var assertion = AssertionSettings()
    /// Whether connections present a client certificate: then the server's `mtls_endpoint_aliases` count.
    public var presentsCertificate = false

    /// For the password grant.
    public var username: String?
    /// For token exchange: what the subject token is (RFC 8693 §3).
    public var subjectTokenType: String?
    /// For token exchange: whether each caller's own token is exchanged, and none is there for others.
    package var exchangesCallersTokens = false
    /// For token exchange: what is asked for.
    public var requestedTokenType: String?

    /// Scope tokens (RFC 6749 §3.3), in the order they are sent.
    public var scope: [String] = []
    /// What Auth0 and others call the API that a token is for.
    public var audience: [String] = []
    /// Resource indicators (RFC 8707).
    public var resource: [String] = []
    /// What the identity's routes ask for beside ``resource``: a server refuses to narrow what was never granted.
    public var furtherResources: [String] = []
    /// Whether these three are a route's and not the identity's own; see `aimed(at:)`.
    public internal(set) var isForRoute = false
    /// Whether a refresh must name the scope, because it is not what the session was begun with.
    public internal(set) var narrowsScope = false
    /// Whether each refresh names the scope (RFC 6749 §6): most servers go by what was granted, a few want to be told.
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
    /// Sent with every request to end the provider's session, such as `logout_hint`.
    public var endSessionParameters: [NamedValue] = []
    /// Where the browser goes when the provider's session has ended (OpenID Connect RP-Initiated Logout §3).
    public var postLogoutRedirectURI: String?
    /// What people read of the client that a registration makes (`client_name`); nil for one made of ``name``.
    public var clientName: String?
    /// Further client metadata of a registration (RFC 7591 §2), as text.
    public var registrationParameters: [NamedValue] = []
    /// The same as JSON: lists, objects, numbers and truths too.
    package var registrationMetadata = JSONObject()
    /// Sent with every userinfo request.
    public var userinfoHeaders: [NamedValue] = []

    /// Whether tokens are to be bound to a key of the session's (RFC 9449).
    public var proofs = ProofPolicy.never
    /// Whether logins are pushed to the server first (RFC 9126).
    public var pushedRequests = PushedRequestPolicy.whereRequired
    /// A profile that nothing may fall short of; nil for none.
    public var profile: SecurityProfile?
    /// Values of `token_type` that are used as Bearer, compared without case.
    public var acceptedTokenTypes = ["bearer"]
    /// How long before expiry a token is renewed; nil means the smaller of 60 s and 20 % of its lifetime.
    public var refreshMargin: Duration?
    /// Of a token whose answer tells no lifetime, when no earlier answer did either.
    public var defaultLifetime: Duration = .seconds(300)
    /// How far the provider's clock may be from ours when an id token's expiry is judged.
    public var clockSkew: Duration = .seconds(60)
    /// The time allowed for one request to the authorization server, in total.
    public var tokenTimeLimit: Duration = .seconds(10)

    /// A client of nobody yet: set ``issuer``, or endpoints.
    public init(name: String, clientID: String, grantType: GrantType) {
        self.name = name
        self.clientID = clientID
        self.grantType = grantType
    }
}

extension ClientConfiguration {
    /// OpenID Connect Core §3.1.2.1: asks who the person is.
    static let openID = "openid"

    /// Whether a refresh says what it is for.
    var namesScope: Bool { narrowsScope || sendsScopeOnRefresh }

    /// The scope that a login asks for: who the person is, where nothing else is said.
    var loginScope: [String] { scope.isEmpty ? [Self.openID] : scope }

    /// The resources that a login asks for (RFC 8707 §2.1): all that its tokens may be for later.
    var loginResource: [String] { resource + furtherResources.filter { !resource.contains($0) } }

    /// Whether a login asks for an id token.
    var asksForIDToken: Bool { loginScope.contains(Self.openID) }
}
