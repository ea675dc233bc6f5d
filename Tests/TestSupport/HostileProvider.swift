// SPDX-License-Identifier: Apache-2.0

/// An OpenID provider that is honest until a test tells it otherwise.
///
/// By default it serves discovery and the grants `client_credentials`, `refresh_token` and `password`. A
/// refresh token that is used twice revokes its whole family (RFC 9700 §4.14).
package final class HostileProvider: Sendable {
    /// Makes the answer to a token request.
    package typealias Answer = @Sendable (TokenRequest, HostileProvider) throws -> Reply

    private struct State {
        var requests: [TokenRequest] = []
        var script: [Answer] = []
        var fallback: Answer = { request, provider in provider.goodAnswer(to: request) }
        var discovery: @Sendable (RawRequest, HostileProvider) -> Reply = { $1.discoveryDocument() }
        var discoveryRequests = 0
        var issued: [String] = []
        var accessTokens: [String] = []
        var refreshTokens: [String: RefreshToken] = [:]
        var latestRefreshToken: String?
        var deadFamilies: Set<Int> = []
        var policy = Policy()
        var pages: [String: Page] = [:]
        /// Returns true for a path whose requests wait; nil while the provider works.
        var frozen: (@Sendable (String) -> Bool)?
        /// The paths of the requests since then.
        var arrivals: [String] = []
        var waiting: [Int] = []
        var lastArrival = 0
    }

    /// An additional endpoint, and the requests that it received.
    private struct Page {
        var answer: @Sendable (RawRequest) -> Reply
        var requests: [RawRequest] = []
    }

    private struct RefreshToken {
        var family: Int
        var isUsed = false
    }

    /// The behaviour of the honest provider.
    package struct Policy: Sendable {
        /// The value of `expires_in`, as JSON text.
        package var expiresIn = "300"
        /// True if a `client_credentials` response has a refresh token.
        package var givesRefreshTokens = false
        /// True if a refresh response has a new refresh token.
        package var rotates = true
        /// The required client secret; nil to accept any.
        package var clientSecret: String?
    }

    private let server: RawServer
    private let isSecure: Bool
    private let state: Monitor<State>
    /// The thumbprints of the keys to which tokens are bound, keyed by token.
    package let bindings = Monitor<[String: String]>([:])
    /// The pushed requests, keyed by their references.
    let pushed = Monitor<[String: [String: String]]>([:])
    let codes = Monitor<[String: [String: String]]>([:])

    package init(_ policy: Policy = Policy(), tls: TLSServer? = nil) throws {
        var initial = State()
        initial.policy = policy
        let state = Monitor(initial)
        self.state = state
        let owner = WeakProvider()
        isSecure = tls != nil
        server = try RawServer(tls: tls) { wire in
            while let request = try wire.readRequest() {
                guard let provider = owner.provider, try provider.answer(request).send(to: wire) else {
                    return
                }
            }
        }
        owner.set(self)
    }

    // MARK: What the configuration needs

    /// The issuer.
    package var issuer: String { isSecure ? "https://localhost:\(port)" : "http://\(server.address)" }

    /// Its port on 127.0.0.1.
    package var port: UInt16 { server.address.port }

    /// The token endpoint.
    package var tokenEndpoint: String { issuer + "/token" }

    // MARK: What happened

    /// Every token request so far, in order.
    package var requests: [TokenRequest] { state.withLock { $0.requests } }

    /// The number of requests for the discovery document.
    package var discoveryRequestCount: Int { state.withLock { $0.discoveryRequests } }

    /// Every access and refresh token issued so far.
    package var handedOut: [String] { state.withLock { $0.issued } }

    /// Every access token issued so far.
    package var accessTokens: [String] { state.withLock { $0.accessTokens } }

    /// The newest refresh token.
    package var latestRefreshToken: String? { state.withLock { $0.latestRefreshToken } }

    /// Waits for the `count`-th token request and returns it.
    @discardableResult
    package func request(_ count: Int, within limit: Duration = patience) throws -> TokenRequest {
        try state.wait(for: "token request \(count)", within: limit) { state in
            state.requests.count >= count ? state.requests[count - 1] : nil
        }
    }

    // MARK: What shall happen

    /// Sets the answers to the next token requests, one each; then the previous behaviour returns.
    package func script(_ answers: Answer...) { state.withLock { $0.script += answers } }

    /// Sets the answer to every token request that ``script(_:)`` does not answer.
    package func always(_ answer: @escaping Answer) { state.withLock { $0.fallback = answer } }

    /// Returns to honest behaviour.
    package func behave() {
        state.withLock { state in
            state.script = []
            state.fallback = { request, provider in provider.goodAnswer(to: request) }
        }
    }

    /// Sets the answer to discovery.
    package func discovery(_ answer: @escaping @Sendable (RawRequest, HostileProvider) -> Reply) {
        state.withLock { $0.discovery = answer }
    }

    /// Changes the honest behaviour.
    package func setPolicy(_ change: @Sendable (inout Policy) -> Void) {
        state.withLock { change(&$0.policy) }
    }

    /// Sets the answer to `method` at `path`.
    package func serve(_ method: String, _ path: String, _ answer: @escaping @Sendable (RawRequest) -> Reply)
    {
        state.withLock { state in
            state.pages["\(method) \(path)", default: Page(answer: answer)].answer = answer
        }
    }

    /// The requests that an endpoint of ``serve(_:_:_:)`` received, with form parameters parsed.
    package func requests(_ method: String, _ path: String) -> [TokenRequest] {
        let messages = state.withLock { $0.pages["\(method) \(path)"]?.requests ?? [] }
        return messages.enumerated().map { TokenRequest(number: $0 + 1, message: $1) }
    }

    /// Receives requests but answers none before ``wake()``; ``die()`` drops them.
    ///
    /// - Parameter path: freezes this path only; nil for all.
    package func freeze(_ path: String? = nil) {
        state.withLock { state in
            state.frozen = { path == nil || $0 == path }
            state.arrivals = []
        }
    }

    /// Answers new requests; those that wait go on waiting for ``wake()``.
    package func hangNoLonger() { state.withLock { $0.frozen = { _ in false } } }

    /// Answers the waiting requests in order, and works from then on.
    package func wake() { state.withLock { $0.frozen = nil } }

    /// Closes all connections, drops the waiting requests, and works from then on.
    package func die() {
        state.withLock { state in
            state.waiting = []
            state.frozen = nil
        }
        server.closeConnections()
    }

    /// The number of requests for `path` since ``freeze(_:)``.
    package func arrivals(_ path: String) -> Int { state.withLock { $0.arrivals.count { $0 == path } } }

    /// Waits for `count` requests for `path` since ``freeze(_:)``.
    package func awaitArrivals(_ count: Int, of path: String) throws {
        try state.wait(for: "\(count) requests for \(path)") { state in
            state.arrivals.count { $0 == path } >= count ? () : nil
        }
    }

    /// Closes the listening socket, so that connections are refused.
    package func stop() { server.stop() }

    // MARK: Good answers

    /// Issues a new access token.
    package func makeAccessToken() -> String {
        state.withLock { state in
            let token = "access-\(state.accessTokens.count + 1)." + randomText()
            state.accessTokens.append(token)
            state.issued.append(token)
            return token
        }
    }

    /// Issues a new refresh token, of a new family without a predecessor.
    package func makeRefreshToken(after predecessor: String? = nil) -> String {
        state.withLock { state in
            let token = "refresh-\(state.issued.count + 1)." + randomText()
            let family = predecessor.flatMap { state.refreshTokens[$0]?.family } ?? state.issued.count
            state.refreshTokens[token] = RefreshToken(family: family)
            state.latestRefreshToken = token
            state.issued.append(token)
            return token
        }
    }

    /// The honest answer to a token request.
    package func goodAnswer(to request: TokenRequest) -> Reply {
        let policy = state.withLock { $0.policy }
        if let secret = policy.clientSecret, !hasSecret(secret, request) {
            return .json(#"{"error":"invalid_client"}"#, status: 401)
        }
        var refreshToken: String?
        if request.grant == "refresh_token" {
            guard let used = request["refresh_token"], use(used, once: policy.rotates) else {
                return .json(#"{"error":"invalid_grant","error_description":"dead"}"#, status: 400)
            }
            refreshToken = policy.rotates ? makeRefreshToken(after: used) : nil
        } else if policy.givesRefreshTokens {
            refreshToken = makeRefreshToken()
        }
        return tokens(expiresIn: policy.expiresIn, refreshToken: refreshToken)
    }

    /// A token response with a new access token; `members` is raw JSON that is appended.
    package func tokens(
        expiresIn: String? = "300", tokenType: String? = #""Bearer""#, refreshToken: String? = nil,
        members: String = ""
    ) -> Reply {
        var body = #"{"access_token":"\#(makeAccessToken())""#
        if let tokenType { body += #","token_type":\#(tokenType)"# }
        if let expiresIn { body += #","expires_in":\#(expiresIn)"# }
        if let refreshToken { body += #","refresh_token":"\#(refreshToken)""# }
        return .json(body + members + "}")
    }

    /// The discovery document; `members` is raw JSON that is appended.
    package func discoveryDocument(issuer claimed: String? = nil, members: String = "") -> Reply {
        .json(
            """
            {"issuer":"\(claimed ?? issuer)","token_endpoint":"\(tokenEndpoint)",\
            "authorization_endpoint":"\(issuer)/authorize","jwks_uri":"\(issuer)/jwks"\(members)}
            """)
    }

    // MARK: Inside

    private func answer(_ message: RawRequest) throws -> Reply {
        let path = String(message.head.target.prefix { $0 != "?" })
        let number = state.withLock { state -> Int? in
            guard state.frozen?(path) ?? false else { return nil }
            state.arrivals.append(path)
            state.lastArrival += 1
            state.waiting.append(state.lastArrival)
            return state.lastArrival
        }
        guard let number else { return try decide(message) }
        let isAlive = try state.wait(for: "the provider to wake", within: patience * 10) { state -> Bool? in
            guard state.waiting.contains(number) else { return false }
            return state.frozen == nil && state.waiting.first == number ? true : nil
        }
        guard isAlive else { throw WireError("it has died") }
        defer { state.withLock { $0.waiting.removeAll { $0 == number } } }
        return try decide(message)
    }

    private func decide(_ message: RawRequest) throws -> Reply {
        switch (message.head.method, String(message.head.target.prefix { $0 != "?" })) {
        case ("GET", "/.well-known/openid-configuration"):
            let discovery = state.withLock { state in
                state.discoveryRequests += 1
                return state.discovery
            }
            return discovery(message, self)
        case ("POST", "/token"):
            let (request, answer) = state.withLock { state in
                let request = TokenRequest(number: state.requests.count + 1, message: message)
                state.requests.append(request)
                return (request, state.script.isEmpty ? state.fallback : state.script.removeFirst())
            }
            return try answer(request, self)
        case (let method, let path):
            let answer = state.withLock { state in
                state.pages["\(method) \(path)"]?.requests.append(message)
                return state.pages["\(method) \(path)"]?.answer
            }
            return answer?(message) ?? .response(404)
        }
    }

    /// Marks a refresh token as used; returns false if it is unknown, its family is revoked, or it was used
    /// before.
    private func use(_ token: String, once: Bool) -> Bool {
        state.withLock { state in
            guard let known = state.refreshTokens[token], !state.deadFamilies.contains(known.family) else {
                return false
            }
            if known.isUsed, once {
                state.deadFamilies.insert(known.family)
                return false
            }
            state.refreshTokens[token]?.isUsed = true
            return true
        }
    }

    private func hasSecret(_ secret: String, _ request: TokenRequest) -> Bool {
        if let basic = request.basicCredentials { return formDecoded(basic.password) == secret }
        return request["client_secret"] == secret
    }
}

extension Reply {
    /// An error response of the token endpoint (RFC 6749 §5.2).
    package static func oauthError(_ code: String, status: Int = 400) -> Reply {
        .json(#"{"error":"\#(code)","error_description":"as the test wants"}"#, status: status)
    }
}

/// Refers weakly to the provider for the server's threads.
private final class WeakProvider: @unchecked Sendable {
    // Set once, before the first connection can come.
    private(set) weak var provider: HostileProvider?

    func set(_ provider: HostileProvider) { self.provider = provider }
}
