// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
public import BearerdHTTPMessages

/// An authorization request for a browser (RFC 6749 §4.1.1), with PKCE (RFC 7636), state and nonce.
///
/// It keeps the values that the response is checked against: see ``response(in:)``.
public struct AuthorizationRequest: Sendable {
    /// The URL to open in the browser; it holds no secret but ``state``.
    public private(set) var url: String
    /// When the server forgets the pushed request, after which ``AuthSession/renewed(_:)`` makes another URL; nil for a
    /// request that was not pushed.
    public private(set) var expiry: Instant?
    /// The random value that the response must repeat.
    public let state: Secret
    /// The random value that the ID token must repeat; it is sent where the scope has `openid`.
    public let nonce: Secret
    let verifier: Secret
    /// The scope that is asked for; empty if another version of this library has encoded the request.
    public var scope: [String] { additions.scope ?? [] }
    /// The client that asks; empty as ``scope`` is.
    public internal(set) var clientID = ""
    /// Where the response goes (RFC 6749 §3.1.2).
    public let redirectURI: String
    /// The server's issuer; nil if it is not known.
    let issuer: String?
    /// True if that server's responses always have `iss` (RFC 9207 §3).
    let requiresIssuer: Bool
    /// The key that the code is bound to (RFC 9449 §10); nil for none.
    let proofKey: ProofKey?
    /// The server and client of the request (``ClientConfiguration/binding``), which alone get its code; nil if not known.
    var binding: String?
    /// The scope that is asked for, and the login's own parameters.
    var additions = LoginAdditions()
    /// True if the server takes pushed requests alone.
    var wantsPush = false
    /// True if the URL refers to a pushed request.
    package var isPushed: Bool { url.contains("\(AuthorizationParameter.requestURI.rawValue)=") }
    /// The parameters without the client; empty if another process made the request.
    let form: FormBody
    private let endpoint: HTTPURL?

    /// A request with random values of its own; only a session of the client's server redeems its code (RFC 9700 §4.4).
    ///
    /// Nothing is judged here: ``AuthSession/authorizationRequest(redirectURI:scope:adding:state:nonce:)`` refuses a redirect URI that is
    /// none, and parameters that clash with built-in ones.
    ///
    /// - Parameters:
    ///   - configuration: the client, and what its logins ask for.
    ///   - endpoint: the authorization endpoint; its own query is kept.
    ///   - redirectURI: where the response goes.
    ///   - issuer: the server's; nil if it is not known.
    ///   - requiresIssuer: true if the server's responses always have `iss`.
    public init(
        configuration: ClientConfiguration, endpoint: HTTPURL, redirectURI: String, issuer: String?,
        requiresIssuer: Bool
    ) {
        self.init(
            configuration: configuration, endpoint: endpoint, redirectURI: redirectURI, issuer: issuer,
            requiresIssuer: requiresIssuer, proofKey: nil)
    }

    /// A request for a code that is bound to a key.
    init(
        configuration: ClientConfiguration, endpoint: HTTPURL, redirectURI: String, issuer: String?,
        requiresIssuer: Bool, proofKey: ProofKey?, marks: LoginMarks = LoginMarks()
    ) {
        let state = marks.state?.withPlaintext { $0 } ?? SecureRandom.word()
        let nonce = marks.nonce?.withPlaintext { $0 } ?? SecureRandom.word()
        let verifier = SecureRandom.word()
        var query = FormBody()
        func append(_ parameter: AuthorizationParameter, _ value: String) {
            query.append(name: parameter.rawValue, value)
        }
        append(.redirectURI, redirectURI)
        append(.scope, configuration.loginScope.joined(separator: " "))
        append(.state, state)
        // A server may refuse parameters of OpenID Connect in a plain OAuth request.
        if configuration.asksForIDToken { append(.nonce, nonce) }
        for (parameter, value) in PKCE.parameters(for: verifier) { append(parameter, value) }
        if let proofKey { append(.keyThumbprint, proofKey.thumbprint) }
        for audience in configuration.audience { append(.audience, audience) }
        for resource in configuration.loginResource { append(.resource, resource) }
        query.append(configuration.authorizationParameters)
        form = Self.parameters([(.responseType, "code")], query)
        clientID = configuration.clientID
        binding = configuration.binding
        additions = LoginAdditions().asking(by: configuration)
        self.endpoint = endpoint
        self.proofKey = proofKey
        let named = [(AuthorizationParameter.responseType, "code"), (.clientID, configuration.clientID)]
        url = Self.url(endpoint, Self.parameters(named, query))
        self.state = Secret(state)
        self.nonce = Secret(nonce)
        self.verifier = Secret(verifier)
        self.redirectURI = redirectURI
        self.issuer = issuer
        self.requiresIssuer = requiresIssuer
    }

    init(
        url: String, state: Secret, nonce: Secret, verifier: Secret, redirectURI: String, issuer: String?,
        requiresIssuer: Bool, proofKey: ProofKey?
    ) {
        self.url = url
        self.state = state
        self.nonce = nonce
        self.verifier = verifier
        self.redirectURI = redirectURI
        self.issuer = issuer
        self.requiresIssuer = requiresIssuer
        self.proofKey = proofKey
        form = FormBody()
        endpoint = nil
    }

    /// This request with a URL that has nothing but the client and a reference to the pushed request (RFC 9126 §4).
    func pushed(as reference: String, until expiry: Instant) -> AuthorizationRequest {
        guard let endpoint else { return self }
        var pushed = self
        pushed.url = Self.url(endpoint, Self.parameters([(.clientID, clientID), (.requestURI, reference)]))
        pushed.expiry = expiry
        return pushed
    }

    private static func parameters(
        _ first: [(AuthorizationParameter, String)], _ others: FormBody = FormBody()
    ) -> FormBody {
        var all = FormBody()
        for (parameter, value) in first { all.append(name: parameter.rawValue, value) }
        all.append(others)
        return all
    }

    private static func url(_ endpoint: HTTPURL, _ query: FormBody) -> String {
        let joint = endpoint.query.map { $0.isEmpty || $0.hasSuffix("&") ? "" : "&" } ?? "?"
        return "\(endpoint)\(joint)\(String(decoding: query.bytes, as: UTF8.self))"
    }
}

extension AuthorizationRequest: Redacted {
    /// The client and the redirect URI in one line; state, nonce and verifier are not shown.
    public var description: String {
        "[authorization request of \(clientID.isEmpty ? "a client" : clientID) for \(redirectURI)]".onOneLine
    }
}
