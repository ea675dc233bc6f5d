// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import BearerdTestSupport
import Glibc

/// A provider that does one thing wrong, as the modules of the OpenID conformance suite's client plans do, a resource
/// server that knows its tokens, and somebody who logs in there.
final class ConformanceSite: Sendable {
    /// The claims of an id token, each as JSON.
    typealias Claims = [String: String]

    struct Login {
        let exit: Int32
        let errors: String
    }

    /// The behaviour of the provider.
    struct Behaviour: Sendable {
        /// Changes the id token's claims.
        var claims: @Sendable (inout Claims) -> Void = { _ in }
        /// Changes those of a refresh.
        var refreshedClaims: @Sendable (inout Claims) -> Void = { _ in }
        /// Makes the id token of its claims, in place of a good one.
        var token: (@Sendable (Claims) throws -> String)?
        /// Members of the token answer beside the tokens, as raw JSON.
        var members = #","expires_in":300"#
        var tokenType = "DPoP"
        /// The issuer of the authorization response; empty for the provider, nil for none.
        var issuer: String? = ""
        /// Its state; nil for the request's.
        var state: String?
        /// True if servers require nonces in proofs.
        var wantsNonces = true
        /// The scheme in which the resource server asks for a nonce.
        var scheme = "DPoP"
        /// Authenticates a token request of a client without the profile; nil checks the secret.
        var authenticates: (@Sendable (TokenRequest) -> Bool)?
    }

    let provider: HostileProvider
    let judge: ProofJudge
    let upstreamJudge: ProofJudge
    let upstream: RawUpstream
    let behaviour: Behaviour
    let directory: TemporaryDirectory
    let file: String
    /// The provider's signing key.
    let key: Monitor<SigningKey>
    /// The keys that it publishes, as JSON.
    let published: Monitor<[String]>
    private let settings: Sidecar.Settings
    private let clientKey: TestKeyPair?

    /// - Parameters:
    ///   - isFAPI: whether the client keeps `profile: fapi2`; else it has a secret.
    ///   - scope: what the client asks for.
    ///   - secure: who answers where clients show a certificate: token and userinfo requests (RFC 8705 section 5).
    ///   - identity: more lines of the client's.
    ///   - isRegistered: whether the client has an id and a secret already.
    init(
        isFAPI: Bool, discoveredIssuer: String? = nil, scope: String = "openid", tls: TLSServer? = nil,
        secure: HostileProvider? = nil, identity: String = "", isRegistered: Bool = true,
        _ behaviour: Behaviour = Behaviour()
    ) throws {
        let provider = try HostileProvider(tls: tls)
        let key = try Self.makeKey(isFAPI: isFAPI)
        let published = Monitor([Self.text(key)])
        (self.key, self.published) = (Monitor(key), published)
        provider.serve("GET", "/jwks") { _ in
            .json(#"{"keys":[\#(published.withLock { $0.joined(separator: ",") })]}"#)
        }
        provider.discovery { _, provider in
            provider.discoveryDocument(
                issuer: discoveredIssuer,
                members: #"""
                    ,"pushed_authorization_request_endpoint":"\#(provider.issuer)/par",\#
                    "userinfo_endpoint":"\#(provider.issuer)/userinfo",\#
                    "registration_endpoint":"\#(provider.issuer)/register",\#
                    "mtls_endpoint_aliases":{\#(secure.map(Self.aliases) ?? "")},\#
                    "dpop_signing_alg_values_supported":["ES256"]
                    """#)
        }
        self.provider = provider
        self.behaviour = behaviour
        judge = behaviour.wantsNonces ? ProofJudge(nonce: "as-1", rotates: true) : ProofJudge()
        let resource = behaviour.wantsNonces ? ProofJudge(nonce: "rs-1", rotates: true) : ProofJudge()
        upstreamJudge = resource
        upstream = try RawUpstream(
            answer: isFAPI
                ? Self.resource(provider, resource, scheme: behaviour.scheme)
                : { Self.isCurrent($0["Authorization"], of: provider) ? .ok() : .unauthorized })
        directory = try TemporaryDirectory()
        clientKey = isFAPI ? try TestKeyPair("ES256") : nil
        let profile =
            clientKey.map { "profile: fapi2\nprivate_key_file: \($0.privateKeyFile)" } ?? ""
        settings = .init(
            identity: "scope: \(scope)\n\(profile)\n\(identity)", grant: "authorization_code",
            hasSecret: !isFAPI && secure == nil && isRegistered)
        let text = Sidecar.configuration(
            provider: provider, upstream: upstream.url, clientSecret: "fake-secret", directory: directory,
            settings)
        file = try directory.write(
            "config.yaml",
            isRegistered ? text : text.replacing("    client_id: legacy-app\n", with: ""))
        secure?.always { [unowned self] request, _ in try answer(request, isFAPI: isFAPI) }
        if isFAPI { provider.takePushedRequests(judge) { [unowned self] in isClient($0) } }
        provider.always { [unowned self] request, _ in try answer(request, isFAPI: isFAPI) }
    }

    /// Where a provider has its endpoints for clients that show a certificate, as JSON.
    private static func aliases(at provider: HostileProvider) -> String {
        #""token_endpoint":"\#(provider.tokenEndpoint)","userinfo_endpoint":"\#(provider.issuer)/userinfo""#
    }

    /// A key that the client takes.
    static func makeKey(isFAPI: Bool) throws -> SigningKey { try isFAPI ? .generateP256() : .generateRSA() }

    /// Signs with another key from now on, and publishes that alone.
    func rotateKey() throws {
        let next = try Self.makeKey(isFAPI: clientKey != nil)
        key.withLock { $0 = next }
        published.withLock { $0 = [Self.text(next)] }
    }

    /// The public part of a key, as JSON.
    static func text(_ key: SigningKey) -> String {
        String(decoding: key.publicJWK?.serialized() ?? [], as: UTF8.self)
    }

    /// A resource server whose challenge for a nonce has that scheme.
    private static func resource(
        _ provider: HostileProvider, _ judge: ProofJudge, scheme: String
    ) -> @Sendable (RawRequest) -> Reply {
        let answer = provider.resource(judge)
        return { request in
            let before = judge.challenges
            let reply = answer(request)
            guard judge.challenges > before else { return reply }
            return .response(
                401, [("WWW-Authenticate", #"\#(scheme) error="use_dpop_nonce""#)] + judge.answerFields)
        }
    }

    /// Returns true if a field has the newest access token.
    private static func isCurrent(_ field: String?, of provider: HostileProvider) -> Bool {
        guard let field, let token = provider.accessTokens.last else { return false }
        return field == "Bearer " + token
    }

    /// Returns true if a request has a client assertion for the issuer, with `aud` as a string (FAPI 2.0).
    private func isClient(_ request: TokenRequest) -> Bool {
        guard let token = try? clientKey?.verify(request["client_assertion"] ?? "") else { return false }
        return token.claims["aud"].string == provider.issuer && token.claims["iss"].string == "legacy-app"
            && token.claims["sub"].string == "legacy-app" && token.header["alg"].string == "ES256"
    }

    /// Returns true if a request has the secret of the manually registered client in its `Authorization`
    /// field.
    private static func hasSecret(_ request: TokenRequest) -> Bool {
        request.basicCredentials?.name == "legacy-app" && request.basicCredentials?.password == "fake-secret"
            && request["client_secret"] == nil
    }

    private func answer(_ request: TokenRequest, isFAPI: Bool) throws -> Reply {
        guard isFAPI else {
            let isClient = behaviour.authenticates ?? Self.hasSecret
            guard isClient(request) else { return .oauthError("invalid_client", status: 401) }
            return .json(try tokens(for: request, isFAPI: false))
        }
        switch judge.judge(request.message, at: provider.tokenEndpoint) {
        case .bad, .nonceWanted:
            return .response(
                400, [("Content-Type", "application/json")] + judge.answerFields,
                #"{"error":"use_dpop_nonce"}"#)
        case .good(let key):
            guard isClient(request) else { return .oauthError("invalid_client", status: 401) }
            return .response(
                200, [("Content-Type", "application/json")] + judge.answerFields,
                try tokens(for: request, isFAPI: true, bindingWith: key))
        }
    }

    /// The answer to a good request.
    private func tokens(
        for request: TokenRequest, isFAPI: Bool, bindingWith key: String? = nil
    ) throws -> String {
        let (access, refresh) = (provider.makeAccessToken(), provider.makeRefreshToken())
        if let key {
            provider.bindings.withLock { bindings in
                for token in [access, refresh] { bindings[token] = key }
            }
        }
        return #"{"access_token":"\#(access)","token_type":"\#(type(isFAPI))","refresh_token":"\#(refresh)","#
            + #""id_token":"\#(try idToken(request))"\#(behaviour.members)}"#
    }

    private func type(_ isFAPI: Bool) -> String {
        isFAPI || behaviour.tokenType != "DPoP" ? behaviour.tokenType : "Bearer"
    }

    private func idToken(_ request: TokenRequest) throws -> String {
        let grant = request["code"].flatMap { provider.grant(of: $0) }
        let now = Int(time(nil))
        var claims: Claims = [
            "iss": #""\#(provider.issuer)""#, "sub": #""user-1""#, "aud": #""legacy-app""#, "iat": "\(now)",
            "exp": "\(now + 300)",
        ]
        if let nonce = grant?["nonce"] { claims["nonce"] = #""\#(nonce)""# }
        if request.grant == "refresh_token" {
            behaviour.refreshedClaims(&claims)
        } else {
            behaviour.claims(&claims)
        }
        return try behaviour.token?(claims) ?? Self.signed(claims, with: key.withLock { $0 })
    }

    /// A good id token with these claims.
    static func signed(_ claims: Claims, with key: SigningKey) throws -> String {
        try key.sign(Array(text(claims).utf8))
    }

    /// The claims as JSON.
    static func text(_ claims: Claims) -> String {
        "{" + claims.map { #""\#($0.key)":\#($0.value)"# }.joined(separator: ",") + "}"
    }

    /// An id token that nobody signed.
    static func unsigned(_ claims: Claims) -> String {
        Base64URL.encode(Array(#"{"alg":"none"}"#.utf8)) + "."
            + Base64URL.encode(Array(text(claims).utf8)) + "."
    }

    /// Has somebody log in; a response that is not believed leaves the command waiting, and ends it here.
    func logIn() throws -> Login {
        let login = try Subprocess([BearerdProcess.binary, "login", "--no-browser", "-c", file])
        let url = try? login.output.wait(for: "the login's URL") { capture in
            if capture.text.contains("\n") {
                return capture.text.split(separator: "\n").first.map(String.init)
            }
            return capture.isAtEnd ? "" : nil
        }
        if let url, !url.isEmpty {
            let redirect = try provider.approve(
                url, isPushed: clientKey != nil, issuer: behaviour.issuer, state: behaviour.state)
            let page = try browse(redirect)
            // Such a response is nobody's: the command waits for another one.
            if behaviour.issuer != "" || behaviour.state != nil, page.status >= 400 { login.signal(SIGTERM) }
        }
        let errors = { login.errors.withLock { $0.text } }
        guard case .exited(let code) = try login.waitForEnd() else {
            return Login(exit: -1, errors: errors())
        }
        return Login(exit: code, errors: errors())
    }

    /// Returns true if `bearerd token` prints a token.
    func hasToken() throws -> Bool {
        try BearerdProcess.command("token", "-c", file).exit == 0
    }

    /// A daemon on what the login left.
    func daemon() throws -> Sidecar {
        try Sidecar(
            provider: provider, upstream: upstream, directory: directory, clientSecret: "fake-secret",
            settings)
    }
}
