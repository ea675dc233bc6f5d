// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
public import BearerdExecutorConfinement
import BearerdJSON

/// Asks an authorization server about tokens that only it can read (RFC 7662).
///
/// Every call is one request: how long an answer may be used again is up to the program (§4).
public actor TokenIntrospector: ExecutorConfined {
    /// The executor that every method runs on.
    public nonisolated let executor: any SerialExecutor
    private let server: AuthorizationServer
    private let clock: any SessionClock
    private let clockSkew: Duration

    /// An introspector that proves itself to the server as `client` does.
    ///
    /// - Parameters:
    ///   - client: the resource server's own registration; its grant type does not matter.
    ///   - executor: runs the introspector; kept alive by it.
    ///   - clock: judges expiry.
    ///   - transport: carries the requests.
    ///   - credentials: the client's secret or key, read at each use.
    public init(
        _ client: ClientConfiguration, executor: any SerialExecutor, clock: any SessionClock,
        transport: any TokenTransport, credentials: any CredentialSource
    ) {
        self.executor = executor
        self.clock = clock
        clockSkew = client.clockSkew
        server = AuthorizationServer(
            configuration: client, transport: transport, credentials: credentials, clock: clock)
    }

    /// Asks about a token.
    ///
    /// - Parameters:
    ///   - token: any token; one with bytes that no header may hold is answered without asking.
    ///   - hint: the kind that it probably is.
    /// - Returns: the claims of an active token; nil for one that is not, whatever the reason. A token past its `exp`,
    ///   or before its `nbf`, is not active, whatever the server says.
    /// - Throws: ``TokenFailure`` if the server did not answer, or refuses this client.
    public func introspect(
        _ token: Secret, hint: TokenHint? = .accessToken
    ) async throws(TokenFailure) -> VerifiedAccessToken? {
        let isSendable = token.withPlaintext { text in
            !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
        }
        guard isSendable else { return nil }
        var body = FormBody()
        token.withPlaintext { body.append(name: LogoutParameter.token.rawValue, $0) }
        if let hint { body.append(name: LogoutParameter.tokenTypeHint.rawValue, hint.rawValue) }
        let response = try await server.post(body, to: .introspection)
        guard response.status == 200 else {
            throw TokenFailure(
                response.isTemporary ? .transient : .misconfigured,
                .init(ResponseBody(response.body).code, status: response.status),
                detail: response.failureDetail)
        }
        guard case .object(let claims) = ResponseBody(response.body), let isActive = claims["active"]?.bool
        else {
            throw TokenFailure(
                .transient, .badResponse,
                detail: "what \(response.place) answers says not whether the token is active")
        }
        guard isActive else { return nil }
        let verified = VerifiedAccessToken(claims)
        return verified.lifetimeFlaw(at: clock.wallNow, clockSkew: clockSkew) == nil ? verified : nil
    }
}
