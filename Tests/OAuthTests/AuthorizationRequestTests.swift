// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

@Suite
struct `An authorization request` {
    private func request(
        endpoint: String = "https://sso.example/auth", issuer: String? = "https://sso.example",
        requiresIssuer: Bool = false, _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) throws -> AuthorizationRequest {
        var configuration = ClientConfiguration(
            name: "default", clientID: "a b", grantType: .authorizationCode)
        configure(&configuration)
        return AuthorizationRequest(
            configuration: configuration, endpoint: try #require(HTTPURL(endpoint)),
            redirectURI: "http://127.0.0.1:1234/callback", issuer: issuer, requiresIssuer: requiresIssuer)
    }

    private func value(_ name: String, in url: String) -> String? {
        let query = url.split(separator: "?", maxSplits: 1).last ?? ""
        let pairs = query.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        let found = pairs.filter { $0.first.map(String.init) == name }
        return found.count == 1 ? found.first?.last.map(String.init) : nil
    }

    private func outcome(
        _ request: AuthorizationRequest, _ query: String
    ) -> Result<AuthorizationRequest.Response, AuthorizationResponseError> {
        do throws(AuthorizationResponseError) {
            return .success(try request.response(in: query))
        } catch {
            return .failure(error)
        }
    }

    private func error(_ request: AuthorizationRequest, _ query: String) -> AuthorizationResponseError? {
        guard case .failure(let error) = outcome(request, query) else { return nil }
        return error
    }

    private func state(_ request: AuthorizationRequest) -> String { request.state.withPlaintext { $0 } }

    @Test(arguments: [
        ([], "openid", true), (["openid", "email"], "openid%20email", true), (["read"], "read", false),
        (["openid2"], "openid2", false),
    ])
    func `asks who the person is where nothing else is asked for, and has a nonce only then`(
        scope: [String], shown: String, hasNonce: Bool
    ) throws {
        let request = try request { $0.scope = scope }
        #expect(value("scope", in: request.url) == shown)
        #expect((value("nonce", in: request.url) != nil) == hasNonce)
        #expect(request.url.contains("nonce=") == hasNonce)
    }

    @Test func `asks for the resources of the identity and of its routes, each once`() throws {
        let request = try request {
            $0.resource = ["https://a.example"]
            $0.furtherResources = ["https://b.example", "https://a.example"]
        }
        #expect(
            request.url.components(of: "resource") == ["https%3A%2F%2Fa.example", "https%3A%2F%2Fb.example"])
    }

    @Test func `says which issuers differ, and shows nothing that a terminal obeys`() throws {
        let request = try request()
        let query = "state=\(state(request))&code=c&iss=https%3A%2F%2Fevil.example%1B%5B31m"
        let mismatch = try #require(error(request, query))
        #expect(mismatch.endsLogin)
        #expect(mismatch.sentence.contains("https://evil.example"))
        #expect(mismatch.sentence.contains("and 'https://sso.example' was asked"))
        #expect(!mismatch.sentence.contains("\u{1B}"))
        #expect(!AuthorizationResponseError.stateMismatch.endsLogin)
    }

    @Test func `asks for a code with PKCE, state and nonce of 32 random bytes each`() throws {
        let request = try request { $0.scope = ["openid", "a&b"] }
        #expect(request.url.hasPrefix("https://sso.example/auth?response_type=code&client_id=a%20b&"))
        #expect(value("redirect_uri", in: request.url) == "http%3A%2F%2F127.0.0.1%3A1234%2Fcallback")
        #expect(value("scope", in: request.url) == "openid%20a%26b")
        #expect(value("code_challenge_method", in: request.url) == "S256")
        let challenge = Base64URL.encode(SHA256.digest(request.verifier.withPlaintext { Array($0.utf8) }))
        #expect(value("code_challenge", in: request.url) == challenge)
        #expect(value("state", in: request.url) == state(request))
        #expect(value("nonce", in: request.url) == request.nonce.withPlaintext { $0 })
        for word in [request.state, request.nonce, request.verifier] {
            #expect(word.withPlaintext { Base64URL.decode($0) }?.count == 32)
        }
        #expect(try self.request().url != request.url)
        #expect(!request.url.contains(request.verifier.withPlaintext { $0 }))
    }

    @Test func `keeps the endpoint's own query, and adds what is configured`() throws {
        let prefix = "https://sso.example/auth?tenant=x%20y"
        for (endpoint, expected) in [(prefix, "\(prefix)&response"), ("\(prefix)&", "\(prefix)&response")] {
            #expect(try request(endpoint: endpoint).url.hasPrefix(expected))
        }
        #expect(try request(endpoint: "https://sso.example/auth?").url.contains("/auth?response_type"))
        let url = try request {
            $0.authorizationParameters = [
                NamedValue("access_type", "offline"), NamedValue("prompt", "consent"),
            ]
            $0.audience = ["api"]
            $0.resource = ["https://a/", "https://b/"]
        }.url
        #expect(
            url.hasSuffix(
                "&audience=api&resource=https%3A%2F%2Fa%2F&resource=https%3A%2F%2Fb%2F"
                    + "&access_type=offline&prompt=consent"))
    }

    @Test func `is answered by a code`() throws {
        let request = try request()
        let answered = outcome(
            request, "code=a%2Bb+c&state=\(state(request))&session_state=7&iss=https://sso.example")
        guard case .success(.granted(let code)) = answered else {
            Issue.record("no code")
            return
        }
        #expect(code.code.withPlaintext { $0 } == "a+b c")
        #expect(code.redirectURI == "http://127.0.0.1:1234/callback")
        #expect(code.verifier.withPlaintext { $0 } == request.verifier.withPlaintext { $0 })
    }

    @Test func `is answered by an error, whose words are cut and made printable`() throws {
        let request = try request()
        let words = "no%1B%5B31m" + String(repeating: "+no", count: 400)
        let answered = outcome(
            request, "error=access_denied&error_description=\(words)&state=\(state(request))")
        guard case .success(.refused(let refusal)) = answered else {
            Issue.record("no refusal")
            return
        }
        #expect(refusal.code == .accessDenied)
        #expect(refusal.description?.count == 200)
        #expect(refusal.description?.hasPrefix("no?[31m no no") ?? false)
    }

    @Test func `is answered by nobody who does not know its state, with a code or an error`() throws {
        let request = try request()
        let right = state(request)
        for state in [
            "", "&state=", "&state=x", "&state=\(right)x", "&state=\(right.dropLast())", "&State=\(right)",
        ] {
            for answer in ["code=c", "error=access_denied"] {
                #expect(error(request, answer + state) == .stateMismatch, "\(answer)\(state)")
            }
        }
    }

    private func mismatch(_ issuer: String) -> AuthorizationResponseError {
        .issuerMismatch(found: issuer, expected: "https://sso.example")
    }

    @Test func `is answered by its own issuer alone, with a code or an error`() throws {
        for answer in ["code=c", "error=access_denied"] {
            let request = try request()
            let prefix = "\(answer)&state=\(state(request))&iss="
            #expect(error(request, prefix + "https://evil.example") == mismatch("https://evil.example"))
            #expect(error(request, prefix + "https://sso.example/") == mismatch("https://sso.example/"))
            #expect(error(request, prefix + "https%3A%2F%2Fsso.example") == nil)
        }
    }

    @Test func `must be answered with an issuer where the server promised that`() throws {
        for answer in ["code=c", "error=access_denied"] {
            let request = try request(requiresIssuer: true)
            #expect(error(request, "\(answer)&state=\(state(request))") == .issuerMissing)
            #expect(error(request, "\(answer)&state=\(state(request))&iss=") == .issuerMissing)
        }
    }

    @Test func `is not answered by what no server would say`() throws {
        let request = try request()
        let right = state(request)
        for query in [
            "state=\(right)", "state=\(right)&code=a&code=b", "state=\(right)&state=\(right)&code=a",
            "code=a&error=access_denied&state=\(right)",
            "code=a&state=\(right)&iss=https://sso.example&iss=x",
            "code=%&state=\(right)", "code=%4&state=\(right)", "code=%FF&state=\(right)",
            "code=&state=\(right)",
        ] {
            #expect(error(request, query) == .malformed, "\(query)")
        }
        // What was refused spent nothing.
        #expect(error(request, "code=a&state=\(right)") == nil)
    }

    @Test func `survives any query`() throws {
        let request = try request()
        let right = state(request)
        var random = SeededGenerator(seed: 0x0A07_0000_0000_0002)
        let pieces = [
            "state=", right, "code=", "error=", "iss=", "&", "=", "%", "%00", "%F0%9F", "+", "é", "\u{0}",
            "#",
        ]
        for _ in 0..<2000 {
            let query = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            .joined()
            guard case .success = outcome(request, query) else { continue }
            #expect(query.contains(right))
        }
    }

    @Test func `comes back to an address that is kept to the letter`() throws {
        let any = try #require(RedirectURI("http://LocalHost:0/a?b=c"))
        #expect(any.port == 0 && any.host == "localhost" && any.path == "/a" && any.isLoopback)
        #expect(any.text(port: 81) == "http://LocalHost:81/a?b=c")
        #expect(any.registered == "http://LocalHost/a?b=c")
        #expect(any.hosts(port: 81) == ["localhost:81"])
        let fixed = try #require(RedirectURI("http://[::1]:8400"))
        #expect(fixed.port == 8400 && fixed.path == "/" && fixed.text(port: 1) == "http://[::1]:8400")
        #expect(fixed.hosts(port: 1) == ["[::1]:8400"])
        #expect(
            try #require(RedirectURI("https://app.example/cb")).hosts(port: 1) == [
                "app.example", "app.example:443",
            ])
        for text in [
            "", "callback", "http:/x", "http://", "http://:0/", "ftp://a:0/", "http://a:0#f", "http://a b:0/",
        ] {
            #expect(RedirectURI(text) == nil, "\(text)")
        }
    }
}

extension String {
    /// The values of a query's parameter, in order.
    fileprivate func components(of name: String) -> [String] {
        split(separator: "?", maxSplits: 1).last?.split(separator: "&").compactMap { pair in
            pair.hasPrefix("\(name)=") ? String(pair.dropFirst(name.utf8.count + 1)) : nil
        } ?? []
    }
}
