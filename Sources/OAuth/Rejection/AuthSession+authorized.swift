// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
public import BearerdHTTPMessages

/// The headers that authorise a request to a resource server (RFC 6750 §2.1).
public struct RequestCredentials: Sendable {
    /// The header fields to set, in place of those of the same names; they hold the token.
    public let headers: [NamedValue]

    /// The name of the field that carries the token.
    public var name: String { headers[0].name }
    /// The value of that field; it holds the token.
    public var value: String { headers[0].value }
}

extension RequestCredentials: Redacted {
    /// A fixed text, which shows nothing of the contents.
    public var description: String { "[credentials]" }
}

/// A resource server's response, as far as a session must know it.
public struct ResourceResponse<Value> {
    /// The status code.
    public var status: Int
    /// The values of `WWW-Authenticate`; needed for tokens that are bound to a key.
    public var challenges: [String]
    /// The value of `DPoP-Nonce` (RFC 9449 §9); nil if there is none.
    public var nonce: String?
    /// The program's own result.
    public var value: Value

    /// True if the server refuses the proof for its nonce alone, which says nothing of the token.
    fileprivate var asksForNonce: Bool { BearerChallenge.asksForNonce(status: status, challenges) }

    /// A response with its status, challenges and nonce, and the program's own result.
    public init(status: Int, challenges: [String] = [], nonce: String? = nil, value: Value) {
        self.status = status
        self.challenges = challenges
        self.nonce = nonce
        self.value = value
    }
}

extension ResourceResponse: Sendable where Value: Sendable {}

/// Why a request gets no credentials, beside ``TokenError``.
public enum AuthorizedRequestError: ExplainedError, Equatable, Sendable {
    /// The URL is not absolute.
    case invalidURL
    /// Plain `http` off loopback would show the token to others on the way.
    case insecureURL

    /// The reason and the remedy, for a person.
    public var sentence: String {
        switch self {
        case .invalidURL: "the URL is no absolute http or https URL"
        case .insecureURL: "plain http off loopback would show the token to others on the way: use https"
        }
    }
}

extension AuthSession {
    /// Makes a request to a resource server with the session's credentials, and refreshes the token if the server refuses it.
    ///
    /// After a 401 the request is repeated once if `canRepeat` is true and a refresh brings another token. A server that
    /// refuses every token causes one refresh in ten seconds.
    ///
    /// A token that is bound to a key (RFC 9449) comes with a proof for this URL and method: set all of
    /// ``RequestCredentials/headers``, and return the response's challenges and nonce. A server that wants another nonce is
    /// asked once more if `canRepeat` is true.
    ///
    /// No redirect may be followed, because the credentials would go along to whoever the server names; `URLSession.shared` follows
    /// them, and `data(for:)` of the product OAuthFoundation does not.
    ///
    /// ```swift
    /// let answer = try await session.authorized("https://api.example.com/orders") { credentials in
    ///     try await call(credentials.headers)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: the absolute URL of the request.
    ///   - method: the method of the request.
    ///   - canRepeat: true if the request may be made twice.
    ///   - limit: how long to wait for each token.
    ///   - send: makes the request.
    /// - Returns: the last response.
    /// - Throws: ``AuthorizedRequestError``; ``TokenError`` if there is no token in time; else what `send` throws.
    public nonisolated func authorized<Value>(
        _ url: String, method: String = "GET", canRepeat: Bool = true,
        waitingAtMost limit: Duration = .seconds(10),
        _ send: (RequestCredentials) async throws -> ResourceResponse<Value>
    ) async throws -> ResourceResponse<Value> {
        guard let address = HTTPURL(url) else { throw AuthorizedRequestError.invalidURL }
        guard address.scheme != .http || address.isLoopback else { throw AuthorizedRequestError.insecureURL }
        let route = address.origin
        let token = try await freshToken(waitingAtMost: limit)
        let request = TransferRequest(
            method: HTTPMethod(rawValue: method), url: address, timeLimit: limit)
        let answer = try await self.send(request, with: token, canRepeat: canRepeat, by: send)
        guard !token.isBound || !answer.asksForNonce else { return answer }
        guard answer.status == 401 else {
            await accessTokenAccepted(generation: token.generation, route: route)
            return answer
        }
        let rejection = TokenRejection(generation: token.generation, route: route, canReplay: canRepeat)
        guard let next = await accessTokenRejected(rejection, waitingAtMost: limit), canRepeat else {
            return answer
        }
        // Some servers issue the same token until it expires: it was refused just now.
        guard !next.token.withPlaintext({ token.token.matches(Array($0.utf8)) }) else { return answer }
        let second = try await self.send(request, with: next, canRepeat: canRepeat, by: send)
        guard !next.isBound || !second.asksForNonce else { return second }
        if second.status == 401 {
            _ = await accessTokenRejected(
                TokenRejection(generation: next.generation, route: route, canReplay: false, isReplayed: true),
                waitingAtMost: .zero)
        } else {
            await accessTokenAccepted(generation: next.generation, route: route, isReplayed: true)
        }
        return second
    }

    /// Makes a request to one of the server's own protected endpoints, or to any other URL that is at hand as such.
    ///
    /// - Throws: as ``authorized(_:method:canRepeat:waitingAtMost:_:)-(String,_,_,_,_)`` does.
    public nonisolated func authorized<Value>(
        _ url: HTTPURL, method: String = "GET", canRepeat: Bool = true,
        waitingAtMost limit: Duration = .seconds(10),
        _ send: (RequestCredentials) async throws -> ResourceResponse<Value>
    ) async throws -> ResourceResponse<Value> {
        try await authorized(
            url.description, method: method, canRepeat: canRepeat, waitingAtMost: limit, send)
    }

    /// True if a request with these header fields carries credentials already (GTMAppAuth's `isAuthorizedRequest`).
    public nonisolated func isAuthorizedRequest(_ headers: [NamedValue]) -> Bool {
        headers.contains { $0.name.lowercased() == "authorization" && !$0.value.isEmpty }
    }

    /// Makes a request with a token, and once more if the server only wants another nonce in the proof.
    private nonisolated func send<Value>(
        _ request: TransferRequest, with token: AccessTokenSnapshot, canRepeat: Bool,
        by send: (RequestCredentials) async throws -> ResourceResponse<Value>
    ) async throws -> ResourceResponse<Value> {
        let answer = try await send(try await credentials(for: request, token))
        guard token.isBound else { return answer }
        let origin = DPoPTarget(request.url).origin
        let isTold = proofs.nonces.note(answer.nonce, from: origin)
        guard isTold, canRepeat, answer.asksForNonce else { return answer }
        let second = try await send(try await credentials(for: request, token))
        proofs.nonces.note(second.nonce, from: origin)
        return second
    }

    /// The headers that authorise a request.
    private func credentials(
        for request: TransferRequest, _ token: AccessTokenSnapshot
    ) async throws(TokenError) -> RequestCredentials {
        // Without headers the token has bytes that no field may hold.
        guard let headers = try? await authorized(request, with: token).headers, !headers.isEmpty else {
            throw .unavailable(retryAfter: .zero)
        }
        return RequestCredentials(headers: headers)
    }

    /// The request with the token and, where it needs one, a signed proof.
    ///
    /// - Throws: ``TokenFailure`` if the proof cannot be signed.
    func authorized(
        _ request: TransferRequest, with token: AccessTokenSnapshot
    ) async throws(TokenFailure) -> TransferRequest {
        var authorization = requestAuthorization
        do throws(JOSEError) {
            let authorized = try await authorization.authorize(
                request, at: DPoPTarget(request.url), with: token, by: proofs)
            requestAuthorization = authorization
            return authorized
        } catch {
            throw TokenFailure(.transient, .noProof, detail: "the proof for DPoP cannot be signed")
        }
    }
}
