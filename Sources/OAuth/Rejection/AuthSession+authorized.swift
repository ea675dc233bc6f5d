// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages

/// What a request to a resource server carries to be authorised (RFC 6750 §2.1).
public struct RequestCredentials: Sendable {
    /// The header field's name.
    public let name: String
    /// The header field's value; holds the token.
    public let value: String
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
    /// The values of `WWW-Authenticate`.
    public var challenges: [String]
    /// What the program wants of the answer.
    public var value: Value

    /// An answer with a status, what the server wants instead, and what the program makes of it.
    public init(status: Int, challenges: [String] = [], value: Value) {
        self.status = status
        self.challenges = challenges
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
    /// ```swift
    /// let answer = try await session.authorized("https://api.example.com/orders") { credentials in
    ///     var request = URLRequest(url: orders)
    ///     request.setValue(credentials.value, forHTTPHeaderField: credentials.name)
    ///     let (data, response) = try await URLSession.shared.data(for: request)
    ///     return ResourceAnswer(status: (response as? HTTPURLResponse)?.statusCode ?? 0, value: data)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - url: what is asked.
    ///   - canRepeat: whether the request may be made twice.
    ///   - limit: how long a refresh is waited for.
    ///   - send: makes the request.
    /// - Returns: the answer that counts.
    /// - Throws: ``AuthorizedRequestError``; ``TokenError`` if there is no token in time; else what `send` throws.
    public nonisolated func authorized<Value>(
        _ url: String, canRepeat: Bool = true, waitingAtMost limit: Duration = .seconds(10),
        _ send: (RequestCredentials) async throws -> ResourceAnswer<Value>
    ) async throws -> ResourceAnswer<Value> {
        guard let address = HTTPURL(url) else { throw AuthorizedRequestError.invalidURL }
        guard address.scheme != .http || address.isLoopback else { throw AuthorizedRequestError.insecureURL }
        let route = address.origin
        let token = try await freshToken(waitingAtMost: limit)
        let answer = try await send(RequestCredentials(token))
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
        let second = try await send(RequestCredentials(next))
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

extension RequestCredentials {
    fileprivate init(_ token: AccessTokenSnapshot) {
        name = "Authorization"
        value = token.token.withPlaintext { "Bearer \($0)" }
    }
}
