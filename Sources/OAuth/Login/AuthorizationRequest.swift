// SPDX-License-Identifier: Apache-2.0

public import Cryptography
public import HTTPMessages

/// A request that a browser makes for us (RFC 6749 §4.1.1), with PKCE (RFC 7636), state and nonce.
///
/// It remembers what the response is held against: see ``response(in:)``.
public struct AuthorizationRequest: Sendable {
    /// Where to send the browser; holds no secret but ``state``.
    public private(set) var url: String
    /// When the server forgets the request that was pushed to it, and the URL is of no use any more; nil for never.
    ///
    /// See ``AuthSession/renewed(_:)``.
    public private(set) var expiry: Instant?
    /// What the response must repeat: nobody else can know it.
    public let state: Secret
    let nonce: Secret
    let verifier: Secret
    /// Where the answer goes (RFC 6749 §3.1.2).
    public let redirectURI: String
    /// Who was asked; nil where nobody says it.
    let issuer: String?
    /// Whether that server always says who answers (RFC 9207 §3).
    let requiresIssuer: Bool
    /// The key that the code will be bound to (RFC 9449 §10); nil for none.
    let proofKey: ProofKey?
    /// What is asked for that the configuration does not ask for.
    var additions = LoginAdditions()
    /// Whether the server says that it takes pushed requests alone.
    var wantsPush = false
    /// Whether the URL refers to a request that was pushed.
    package var isPushed: Bool { url.contains("\(AuthorizationParameter.requestURI.rawValue)=") }
    /// What is asked, without the client; empty where another process made the request.
    let form: FormBody
    private let clientID: String
    private let endpoint: HTTPURL?

    /// A request with random values of its own.
    ///
    /// - Parameters:
    ///   - configuration: what is asked for.
    ///   - endpoint: the authorization endpoint; its own query is kept.
    ///   - redirectURI: where the answer goes.
    ///   - issuer: of the server, if that is known.
    ///   - requiresIssuer: whether its responses always have `iss`.
    public init(
        configuration: ClientConfiguration, endpoint: HTTPURL, redirectURI: String, issuer: String?,
        requiresIssuer: Bool
    ) {
        self.init(
            configuration: configuration, endpoint: endpoint, redirectURI: redirectURI, issuer: issuer,
            requiresIssuer: requiresIssuer, proofKey: nil)
    }

    /// A request with random values of its own, for a code that is bound to a key.
    init(
        configuration: ClientConfiguration, endpoint: HTTPURL, redirectURI: String, issuer: String?,
        requiresIssuer: Bool, proofKey: ProofKey?
    ) {
        let state = SecureRandom.word()
        let nonce = SecureRandom.word()
        let verifier = SecureRandom.word()
        var query = FormBody()
        func append(_ parameter: AuthorizationParameter, _ value: String) {
            query.append(name: parameter.rawValue, value)
        }
        append(.redirectURI, redirectURI)
        append(.scope, configuration.loginScope.joined(separator: " "))
        append(.state, state)
        // A server may refuse parameters of OpenID Connect in a request that is none.
        if configuration.asksForIDToken { append(.nonce, nonce) }
        for (parameter, value) in PKCE.parameters(for: verifier) { append(parameter, value) }
        if let proofKey { append(.keyThumbprint, proofKey.thumbprint) }
        for audience in configuration.audience { append(.audience, audience) }
        for resource in configuration.loginResource { append(.resource, resource) }
        for parameter in configuration.authorizationParameters {
            query.append(name: parameter.name, parameter.value)
        }
        form = Self.parameters([(.responseType, "code")], query)
        clientID = configuration.clientID
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
        clientID = ""
        endpoint = nil
    }

    // MARK: Pushed

    /// This request, as the browser refers to it (RFC 9126 §4): nothing else goes along.
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
