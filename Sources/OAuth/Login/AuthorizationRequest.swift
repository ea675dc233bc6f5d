// SPDX-License-Identifier: Apache-2.0

public import Cryptography
public import HTTPMessages

/// A request that a browser makes for us (RFC 6749 §4.1.1), with PKCE (RFC 7636), state and nonce.
///
/// It remembers what the response is held against: see ``response(in:)``.
public struct AuthorizationRequest: Sendable {
    /// Where to send the browser; holds no secret but ``state``.
    public let url: String
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
        let state = SecureRandom.word()
        let nonce = SecureRandom.word()
        let verifier = SecureRandom.word()
        var query = FormBody()
        func append(_ parameter: AuthorizationParameter, _ value: String) {
            query.append(name: parameter.rawValue, value)
        }
        append(.responseType, "code")
        append(.clientID, configuration.clientID)
        append(.redirectURI, redirectURI)
        append(.scope, configuration.loginScope.joined(separator: " "))
        append(.state, state)
        // A server may refuse parameters of OpenID Connect in a request that is none.
        if configuration.asksForIDToken { append(.nonce, nonce) }
        for (parameter, value) in PKCE.parameters(for: verifier) { append(parameter, value) }
        for audience in configuration.audience { append(.audience, audience) }
        for resource in configuration.loginResource { append(.resource, resource) }
        for parameter in configuration.authorizationParameters {
            query.append(name: parameter.name, parameter.value)
        }
        let joint = endpoint.query.map { $0.isEmpty || $0.hasSuffix("&") ? "" : "&" } ?? "?"
        url = "\(endpoint)\(joint)\(String(decoding: query.bytes, as: UTF8.self))"
        self.state = Secret(state)
        self.nonce = Secret(nonce)
        self.verifier = Secret(verifier)
        self.redirectURI = redirectURI
        self.issuer = issuer
        self.requiresIssuer = requiresIssuer
    }

    init(
        url: String, state: Secret, nonce: Secret, verifier: Secret, redirectURI: String, issuer: String?,
        requiresIssuer: Bool
    ) {
        self.url = url
        self.state = state
        self.nonce = nonce
        self.verifier = verifier
        self.redirectURI = redirectURI
        self.issuer = issuer
        self.requiresIssuer = requiresIssuer
    }
}
