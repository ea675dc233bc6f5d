// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OAuth

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension RequestCredentials {
    /// Sets the header fields that authorise a request, in place of those of the same names.
    public func authorize(_ request: inout URLRequest) {
        for field in headers { request.setValue(field.value, forHTTPHeaderField: field.name) }
    }
}

extension ResourceResponse {
    /// A response with all that a session must know of it, and the program's own result.
    public init(_ response: HTTPURLResponse, value: Value) {
        self.init(
            status: response.statusCode,
            challenges: [response.value(forHTTPHeaderField: "WWW-Authenticate")].compactMap(\.self),
            nonce: response.value(forHTTPHeaderField: "DPoP-Nonce"), value: value)
    }
}

extension AuthSession {
    /// Makes a request with the session's credentials, and heals a 401 as bearerd does.
    ///
    /// The token is refreshed once and the request made once more, unless its body is a stream; a server that refuses every token
    /// causes one refresh in ten seconds. A token that is bound to a key comes with its proof. The answer is the last one, whatever
    /// its status. Redirects are not followed, because the token would go along: the 3xx is the answer.
    ///
    /// - Parameters:
    ///   - request: its own time-out counts for each of the requests.
    ///   - limit: how long to wait for each token.
    /// - Returns: the body and the head of the answer.
    /// - Throws: `AuthorizedRequestError`; `TokenError` if there is no token in time; else `URLError`.
    public nonisolated func data(
        for request: URLRequest, waitingAtMost limit: Duration = .seconds(10)
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: request, waitingAtMost: limit) { request in
            let answer = try await Self.exchanges.answer(to: request)
            if let failure = answer.failure { throw failure }
            return (Data(answer.body), answer.response)
        }
    }

    /// Makes a request with the session's credentials over a `URLSession` of the program's own, which should not follow redirects
    /// to other servers with them.
    ///
    /// - Throws: as the one without; `URLError` for an answer that is no HTTP.
    public nonisolated func data(
        for request: URLRequest, over session: URLSession, waitingAtMost limit: Duration = .seconds(10)
    ) async throws -> (Data, HTTPURLResponse) {
        try await data(for: request, waitingAtMost: limit) { request in
            let (data, response) = try await session.data(for: request)
            guard let response = response as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            return (data, response)
        }
    }

    /// The connections of all requests that name none.
    private static let exchanges = URLExchanges()

    private nonisolated func data(
        for request: URLRequest, waitingAtMost limit: Duration,
        _ send: (URLRequest) async throws -> (Data, HTTPURLResponse)
    ) async throws -> (Data, HTTPURLResponse) {
        guard let url = request.url else { throw AuthorizedRequestError.invalidURL }
        // A fragment is not sent (RFC 9110 §4.2.4).
        let address = String(url.absoluteString.prefix { $0 != "#" })
        return try await authorized(
            address, method: request.httpMethod ?? "GET", canRepeat: request.httpBodyStream == nil,
            waitingAtMost: limit
        ) { credentials in
            var authorized = request
            credentials.authorize(&authorized)
            let (data, response) = try await send(authorized)
            return ResourceResponse(response, value: (data, response))
        }.value
    }

    /// True if a request carries credentials already (GTMAppAuth's `isAuthorizedRequest`).
    public nonisolated func isAuthorizedRequest(_ request: URLRequest) -> Bool {
        request.value(forHTTPHeaderField: "Authorization").map { !$0.isEmpty } ?? false
    }
}
