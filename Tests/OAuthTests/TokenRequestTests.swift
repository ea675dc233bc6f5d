// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

struct `A token request` {
    private func request(
        _ grant: Grant = .original, type: GrantType = .clientCredentials, secret: String? = "s3cret",
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) async throws -> TransferRequest {
        var configuration = ClientConfiguration(name: "default", clientID: "app", grantType: type)
        configuration.endpoints[.token] = HTTPURL("https://sso.example/token?p=1")
        configure(&configuration)
        let transport = FakeServer(journal: Journal())
        let credentials = FakeSecret()
        credentials.set(secret)
        let server = AuthorizationServer(
            configuration: configuration, transport: transport, credentials: credentials, clock: ManualClock()
        )
        _ = await server.requestToken(with: grant)
        return try #require(transport.last)
    }

    private func body(_ request: TransferRequest) -> String { String(decoding: request.body, as: UTF8.self) }

    @Test func `is a form, and asks for JSON`() async throws {
        let request = try await request()
        #expect(request.method == .post)
        #expect(request.url.description == "https://sso.example/token?p=1")
        #expect(request.fields[.contentType] == "application/x-www-form-urlencoded")
        #expect(request.fields[.accept] == "application/json")
    }

    @Test func `of a public client names it in the body`() async throws {
        let request = try await request(secret: nil)
        #expect(body(request) == "grant_type=client_credentials&client_id=app")
        #expect(request.fields[.authorization] == nil)
    }

    @Test func `of client_secret_post has the secret in the body`() async throws {
        let request = try await request(secret: "a+b&c") { $0.authentication = .post }
        #expect(body(request) == "grant_type=client_credentials&client_id=app&client_secret=a%2Bb%26c")
    }

    @Test(arguments: [
        (true, "a%3Ap%20p:a%2Bb%252Fc%3Ad%26e%3Df%2Fg%20h%C3%A9"), (false, "a:p p:a+b%2Fc:d&e=f/g hé"),
    ])
    func `of client_secret_basic joins id and secret in either encoding`(
        isFormEncoded: Bool, expected: String
    ) async throws {
        let request = try await request(secret: "a+b%2Fc:d&e=f/g hé") {
            $0.basicEncoding = isFormEncoded ? .form : .raw
            $0.clientID = "a:p p"
            $0.authentication = .basic
        }
        let value = try #require(request.fields[.authorization])
        #expect(value.hasPrefix("Basic "))
        let decoded = try #require(Base64.decode(String(value.dropFirst(6))))
        #expect(String(decoding: decoded, as: UTF8.self) == expected)
        #expect(body(request) == "grant_type=client_credentials")
    }

    @Test func `asks for what is configured`() async throws {
        let request = try await request(secret: nil) {
            $0.scope = ["openid", "a:b"]
            $0.audience = ["https://api"]
            $0.resource = ["urn:x", "urn:y"]
            $0.tokenParameters = [NamedValue("foo bar", "1&2")]
            $0.tokenHeaders = [NamedValue("X-Tenant", "t"), NamedValue("accept", "*/*")]
        }
        #expect(
            body(request) == "grant_type=client_credentials&scope=openid%20a%3Ab&audience=https%3A%2F%2Fapi"
                + "&resource=urn%3Ax&resource=urn%3Ay&foo%20bar=1%262&client_id=app")
        #expect(request.fields[.accept] == "*/*")
        #expect(request.fields.count == 3)
    }

    @Test func `that refreshes an imported session asks for the configured scope, no other does`()
        async throws
    {
        let grant = Grant.refresh(Secret("r/t"))
        let imported = try await request(grant, type: .refreshToken, secret: nil) { $0.scope = ["a"] }
        #expect(body(imported) == "grant_type=refresh_token&refresh_token=r%2Ft&scope=a&client_id=app")
        let login = try await request(grant, type: .authorizationCode, secret: nil) { $0.scope = ["a"] }
        #expect(body(login) == "grant_type=refresh_token&refresh_token=r%2Ft&client_id=app")
    }

    @Test func `never prints itself`() async throws {
        let request = try await request(.refresh(Secret("topsecret"))) { $0.authentication = .basic }
        var dumped = ""
        dump(request, to: &dumped)
        for text in ["\(request)", String(reflecting: request), dumped] {
            #expect(!text.contains("topsecret") && !text.contains("Basic"))
        }
    }
}
