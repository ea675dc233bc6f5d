// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// What a request to a resource server carries to be authorised (RFC 6750 §2.1).
public struct RequestCredentials: Sendable {
    /// All header fields that the request needs, in place of those of the same names; they hold the token.
    public let headers: [NamedValue]

    /// The name of the field that carries the token.
    public var name: String { headers[0].name }
    /// Its value; holds the token.
    public var value: String { headers[0].value }
}

extension RequestCredentials: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Says what it is, and nothing of what is in it.
    public var description: String { "[credentials]" }
    /// Says no more than `description`.
    public var debugDescription: String { description }
    /// Shows nothing of what is in it.
    public var customMirror: Mirror { Mirror(self, children: EmptyCollection<Mirror.Child>()) }
}

/// What a resource server answered, as far as a session must know it.
public struct ResourceAnswer<Value> {
    /// The status code.
    public var status: Int
    /// The values of `WWW-Authenticate`, which a session whose tokens are bound to a key reads.
    public var challenges: [String]
    /// The value of `DPoP-Nonce`, if there is one, for the next proof (RFC 9449 §9).
    public var nonce: String?
    /// What the program wants of the answer.
    public var value: Value

    /// Whether it refuses the proof for want of a nonce, and says nothing of the token.
    fileprivate var asksForNonce: Bool { BearerChallenge.asksForNonce(status: status, challenges) }

    /// An answer with a status, what the server wants instead, and what the program makes of it.
    public init(status: Int, challenges: [String] = [], nonce: String? = nil, value: Value) {
        self.status = status
        self.challenges = challenges
        self.nonce = nonce
        self.value = value
    }
}

extension ResourceAnswer: Sendable where Value: Sendable {}

/// Why a request gets no credentials, besides ``TokenError``.
public enum AuthorizedRequestError: Error, Equatable, Sendable {
    /// The address is no absolute URL.
    case invalidURL
    /// Plain `http` off loopback would show the token to everybody on the way.
    case insecureURL
}

extension AuthSession {
    /// Makes a request to a resource server, with the session's credentials, and heeds what the server thinks of them.
    ///
    /// A 401 marks the state. Where `canRepeat` says so, and a refresh brings another token, the request is made once
    /// more; what that one is answered counts. A server that refuses everything causes one refresh in ten seconds.
    ///
    /// Where the token is bound to a key (RFC 9449), each of the credentials has a proof of its own, for this URL and
    /// method: set all of ``RequestCredentials/headers``, and hand back the answer's challenges and nonce. A server that
    /// wants another nonce is asked once more, if `canRepeat` says so.
    ///
    /// ```swift
    /// let answer = try await session.authorized("https://api.example.com/orders") { credentials in
    ///     var request = URLRequest(url: orders)
    ///     for header in credentials.headers { request.setValue(header.value, forHTTPHeaderField: header.name) }
    ///     let (data, response) = try await URLSession.shared.data(for: request)
    ///     return ResourceAnswer(status: (response as? HTTPURLResponse)?.statusCode ?? 0, value: data)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: what is asked.
    ///   - method: how it is asked.
    ///   - canRepeat: whether the request may be made twice.
    ///   - limit: how long a refresh is waited for.
    ///   - send: makes the request.
    /// - Returns: the answer that counts.
    /// - Throws: ``AuthorizedRequestError``; ``TokenError`` if there is no token in time; else what `send` throws.
    public nonisolated func authorized<Value>(
        _ url: String, method: String = "GET", canRepeat: Bool = true,
        waitingAtMost limit: Duration = .seconds(10),
        _ send: (RequestCredentials) async throws -> ResourceAnswer<Value>
    ) async throws -> ResourceAnswer<Value> {
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
        // Some providers hand out one token until it expires: this one was refused just now.
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
}

extension AuthSession {
    /// Has a request made with a token, and once more where the server only wants another nonce in its proof.
    private nonisolated func send<Value>(
        _ request: TransferRequest, with token: AccessTokenSnapshot, canRepeat: Bool,
        by send: (RequestCredentials) async throws -> ResourceAnswer<Value>
    ) async throws -> ResourceAnswer<Value> {
        let answer = try await send(try await credentials(for: request, token))
        guard token.isBound else { return answer }
        let origin = ProofTarget(request.url).origin
        let isTold = proofs.nonces.note(answer.nonce, from: origin)
        guard isTold, canRepeat, answer.asksForNonce else { return answer }
        let second = try await send(try await credentials(for: request, token))
        proofs.nonces.note(second.nonce, from: origin)
        return second
    }

    /// What a request carries, in the words of the place where all requests get it.
    private func credentials(
        for request: TransferRequest, _ token: AccessTokenSnapshot
    ) async throws(TokenError) -> RequestCredentials {
        var authorization = requestAuthorization
        let authorized: TransferRequest
        do throws(JOSEError) {
            authorized = try await authorization.authorize(
                request, at: ProofTarget(request.url), with: token, by: proofs)
        } catch {
            throw .unavailable(retryAfter: .zero)
        }
        requestAuthorization = authorization
        // A token that no field may hold is never sent; one that is believed has been judged before.
        guard !authorized.headers.isEmpty else { throw .unavailable(retryAfter: .zero) }
        return RequestCredentials(headers: authorized.headers)
    }
}
