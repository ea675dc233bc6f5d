// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Foundation
import FoundationNetworking
import OAuthFoundation
import OAuthRuntime
import Testing

/// Requests of a program with Foundation, to an API that may refuse a token.
@Suite(.timeLimit(.minutes(10))) struct `Data that a session asks for` {
    private let provider: HostileProvider

    init() throws {
        EmptyProxyEnvironment.enter()
        provider = try HostileProvider()
    }

    private func session() async throws -> AuthSession {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .clientCredentials)
        client.authentication = .post
        client.issuer = provider.issuer
        return try await AuthRuntime(storage: .memory).open(client, over: URLSessionTransport()) {
            credential in
            credential == .clientSecret ? "fake-secret" : nil
        }
    }

    private func request(_ url: String, _ change: (inout URLRequest) -> Void = { _ in }) throws -> URLRequest
    {
        var request = URLRequest(url: try #require(URL(string: url)))
        change(&request)
        return request
    }

    @Test func `comes with the token, by URLSession on both sides`() async throws {
        let api = try RawUpstream { _ in .ok("orders") }
        let session = try await session()
        let request = try request(api.url + "/orders?open=1#part") {
            $0.httpMethod = "PUT"
            $0.httpBody = Data("{}".utf8)
            $0.setValue("mine", forHTTPHeaderField: "Authorization")
        }
        #expect(session.isAuthorizedRequest(request))
        let (body, response) = try await session.data(for: request)
        #expect(response.statusCode == 200 && String(decoding: body, as: UTF8.self) == "orders")
        let sent = try #require(api.requests.first)
        #expect(sent.head.startLine == "PUT /orders?open=1 HTTP/1.1" && sent.text == "{}")
        #expect(sent["Authorization"] == "Bearer \(provider.accessTokens[0])")
    }

    @Test func `is asked for once more after a 401, with another token`() async throws {
        let provider = provider
        let api = try RawUpstream { request in
            request["Authorization"] == "Bearer \(provider.accessTokens[0])" ? .unauthorized : .ok("orders")
        }
        let session = try await session()
        let (body, response) = try await session.data(
            for: try request(api.url) {
                $0.httpMethod = "POST"
                $0.httpBody = Data("order".utf8)
            })
        #expect(response.statusCode == 200 && body == Data("orders".utf8))
        #expect(api.requests.map(\.text) == ["order", "order"])
        #expect(provider.requests.count == 2)
    }

    @Test func `of a server that refuses every token costs one refresh`() async throws {
        let api = try RawUpstream { _ in .unauthorized }
        let session = try await session()
        for _ in 0..<5 {
            let (body, response) = try await session.data(for: try request(api.url))
            #expect(response.statusCode == 401 && body == Data("who are you?".utf8))
        }
        #expect(provider.requests.count == 2)
        #expect(api.requests.count == 6)
    }

    @Test func `with a body that is a stream is sent once`() async throws {
        let api = try RawUpstream { _ in .unauthorized }
        let session = try await session()
        let request = try request(api.url) {
            $0.httpMethod = "POST"
            $0.httpBodyStream = InputStream(data: Data("order".utf8))
        }
        let (_, response) = try await session.data(for: request)
        #expect(response.statusCode == 401 && api.requests.count == 1)
    }

    @Test func `takes the token to no other server by a redirect`() async throws {
        let other = try RawUpstream()
        let address = other.url
        let api = try RawUpstream { _ in .response(302, [("Location", address)]) }
        let session = try await session()
        let (_, response) = try await session.data(for: try request(api.url))
        #expect(response.statusCode == 302 && other.requests.isEmpty)
    }

    @Test func `may come over the program's own URLSession`() async throws {
        let api = try RawUpstream { _ in .ok("orders") }
        let session = try await session()
        let (body, _) = try await session.data(
            for: try request(api.url), over: URLSession(configuration: .ephemeral))
        #expect(body == Data("orders".utf8))
        #expect(api.requests.first?["Authorization"]?.hasPrefix("Bearer ") == true)
    }

    @Test func `is not asked for in the clear, nor without an address`() async throws {
        let session = try await session()
        await #expect(throws: AuthorizedRequestError.insecureURL) {
            try await session.data(for: try request("http://api.example.com/"))
        }
        await #expect(throws: AuthorizedRequestError.invalidURL) {
            try await session.data(for: try request("relative"))
        }
    }

    @Test func `is nothing after the session's stop, in words`() async throws {
        let session = try await session()
        await session.stop()
        let error = await #expect(throws: TokenError.stopped) {
            try await session.data(for: try request("http://127.0.0.1:1/"))
        }
        #expect(error?.localizedDescription == "the session was stopped: make another one of the same client")
    }
}
