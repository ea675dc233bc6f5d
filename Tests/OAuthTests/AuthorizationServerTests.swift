// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

struct `The authorization server` {
    private let issuer = "https://sso.example/realms/demo"
    private let openID = "https://sso.example/realms/demo/.well-known/openid-configuration"
    private let oauth = "https://sso.example/.well-known/oauth-authorization-server/realms/demo"

    private func discovering(
        _ configure: (inout ClientConfiguration) -> Void = { _ in }
    ) -> SessionHarness {
        SessionHarness {
            $0.endpoints = [:]
            $0.issuer = issuer
            configure(&$0)
        }
    }

    private func document(_ issuer: String, token: String? = "https://sso.example/t") -> FakeServer.Reply {
        let endpoint = token.map { #","token_endpoint":"\#($0)""# } ?? ""
        return .status(200, #"{"issuer":"\#(issuer)"\#(endpoint)}"#)
    }

    private func lastError(_ harness: SessionHarness) async -> String? {
        await harness.session.status.lastError?.code
    }

    @Test func `is discovered under the issuer, once`() async throws {
        let harness = discovering()
        harness.server.publish(document(issuer), at: openID)
        try await harness.run {
            await harness.pass(.seconds(240))
            #expect(harness.server.urls == [openID, "https://sso.example/t", "https://sso.example/t"])
        }
    }

    @Test func `is discovered by the inserted path of RFC 8414 where the first is missing or says less`()
        async throws
    {
        for first in [
            FakeServer.Reply.status(404), .status(200, "<html>"), .status(500), document(issuer, token: nil),
        ] {
            let harness = discovering()
            harness.server.publish(first, at: openID)
            harness.server.publish(document(issuer), at: oauth)
            try await harness.run {
                #expect(harness.server.urls == [openID, oauth, "https://sso.example/t"])
            }
        }
    }

    @Test func `is believed about its endpoints only if its issuer is ours, to the letter`() async throws {
        for other in [
            "https://sso.example/realms/demo/", "https://SSO.example/realms/demo", "https://evil.example",
        ] {
            let harness = discovering()
            harness.server.publish(document(other), at: openID)
            try await harness.run {
                #expect(harness.server.bodies.isEmpty)
                #expect(await harness.session.status.state == .misconfigured)
                #expect(await lastError(harness) == "issuer_mismatch")
            }
        }
    }

    @Test(arguments: [
        (FakeServer.Reply.status(404), SessionState.misconfigured), (.status(200, "[]"), .misconfigured),
        (.status(503), .unavailable), (.status(429), .unavailable),
        (.error(.unreachable("refused")), .unavailable),
        (.error(.timedOut), .unavailable), (.error(.certificate("expired")), .misconfigured),
    ])
    func `that cannot be discovered leaves a state that fits`(
        reply: FakeServer.Reply, state: SessionState
    ) async throws {
        let harness = discovering()
        harness.server.publish(reply, at: openID)
        try await harness.run {
            #expect(await harness.session.status.state == state)
            harness.server.publish(document(issuer), at: openID)
            await harness.pass(.seconds(1))
            #expect(harness.token == "at1")
        }
    }

    @Test func `may say where it is at an address of its own`() async throws {
        let harness = discovering { $0.discoveryURL = HTTPURL("https://other.example/doc") }
        harness.server.publish(document(issuer), at: "https://other.example/doc")
        try await harness.run {
            #expect(harness.server.urls == ["https://other.example/doc", "https://sso.example/t"])
        }
    }

    @Test func `is not asked where it is when its endpoint is configured`() async throws {
        let harness = discovering { $0.endpoints[.token] = HTTPURL("https://by.hand/token") }
        try await harness.run { #expect(harness.server.urls == ["https://by.hand/token"]) }
    }

    @Test func `is asked again where it is after a 404, and the last good word counts`() async throws {
        let harness = discovering()
        harness.server.publish(document(issuer), at: openID)
        harness.server.script(.status(404))
        try await harness.run {
            harness.server.publish(.status(500), at: openID)
            harness.server.script(.status(404))
            await harness.pass(.seconds(1))
            harness.server.publish(document(issuer, token: "https://moved.example/t"), at: openID)
            await harness.pass(.seconds(2))
            #expect(harness.server.urls.last == "https://moved.example/t")
            #expect(harness.token == "at1")
        }
    }

    @Test(arguments: [
        FakeServer.Reply.status(405), .status(410), .error(.unreachable("refused")), .error(.timedOut),
        .error(.certificate("expired")),
    ])
    func `is asked again where it is when nothing of use answers where it was`(
        reply: FakeServer.Reply
    ) async throws {
        let harness = discovering()
        harness.server.publish(document(issuer), at: openID)
        try await harness.run {
            harness.server.publish(document(issuer, token: "https://moved.example/t"), at: openID)
            harness.server.script(reply)
            await harness.pass(.seconds(240))
            await harness.pass(.seconds(60))
            #expect(harness.server.urls.last == "https://moved.example/t", "\(harness.server.urls)")
            #expect(harness.server.urls.filter { $0 == openID }.count == 2)
        }
    }

    @Test func `is asked where it is once a minute at most while it is away`() async throws {
        let harness = discovering()
        harness.server.publish(document(issuer), at: openID)
        try await harness.run {
            harness.server.publish(.error(.unreachable("refused")), at: openID)
            for _ in 0..<100 { harness.server.script(.error(.unreachable("refused"))) }
            await harness.pass(.seconds(240))
            for _ in 0..<30 { await harness.pass(.seconds(10)) }
            let looks = harness.server.urls.filter { $0 == openID }.count
            #expect(looks > 1 && looks <= 7, "\(looks)")
        }
    }

    @Test func `is not asked for its metadata before the time that it names`() async throws {
        let harness = discovering()
        var busy = TransportResponse(status: 429)
        busy.fields.append(.retryAfter, "60")
        harness.server.publish(.response(busy), at: openID)
        harness.server.publish(document(issuer), at: oauth)
        try await harness.run {
            for _ in 0..<5 { await harness.pass(.seconds(10)) }
            #expect(harness.server.urls == [openID], "the second document is the same server's")
            harness.server.publish(document(issuer), at: openID)
            await harness.pass(.seconds(20))
            #expect(harness.token == "at1")
        }
    }

    @Test func `is asked where it is once an hour, and the last good word counts`() async throws {
        let harness = discovering()
        harness.server.publish(document(issuer), at: openID)
        try await harness.run {
            for _ in 0..<14 { await harness.pass(.seconds(240)) }
            #expect(harness.server.urls.filter { $0 == openID }.count == 1)
            harness.server.publish(.status(503), at: openID)
            for _ in 0..<2 { await harness.pass(.seconds(240)) }
            #expect(harness.server.urls.filter { $0 == openID }.count == 2)
            #expect(harness.server.urls.last == "https://sso.example/t")
            harness.server.publish(document(issuer, token: "https://moved.example/t"), at: openID)
            for _ in 0..<2 { await harness.pass(.seconds(240)) }
            #expect(harness.server.urls.last == "https://moved.example/t")
        }
    }

    @Test func `is asked again for what a document that could not be had may say`() async throws {
        var configuration = ClientConfiguration(
            name: "default", clientID: "app", grantType: .clientCredentials)
        configuration.issuer = issuer
        let transport = FakeServer(journal: Journal())
        transport.publish(document(issuer), at: openID)
        transport.publish(.status(503), at: oauth)
        let server = AuthorizationServer(
            configuration: configuration, transport: transport, credentials: FakeCredentials([:]),
            clock: ManualClock())
        await #expect(throws: TokenFailure.self) { try await server.url(of: .revocation) }
        transport.publish(
            .status(200, #"{"issuer":"\#(issuer)","revocation_endpoint":"https://sso.example/r"}"#), at: oauth
        )
        #expect(try await server.url(of: .revocation).description == "https://sso.example/r")
    }

    @Test(arguments: [
        ("http://sso.example/token", false, Bool?.none, true), ("http://sso.example/token", true, nil, false),
        ("http://127.0.0.1:8080/token", false, nil, false), ("http://localhost/token", false, nil, false),
        ("http://sso.example/token", false, true, false), ("http://localhost/token", false, false, true),
    ])
    func `gets no credentials over plain http off loopback`(
        url: String, isAllowed: Bool, connectsToLoopback: Bool?, isRefused: Bool
    ) async throws {
        let harness = SessionHarness {
            $0.endpoints[.token] = HTTPURL(url)
            $0.allowsInsecureProvider = isAllowed
            $0.connectsToLoopback = connectsToLoopback
        }
        try await harness.run {
            #expect(harness.server.bodies.isEmpty == isRefused)
            #expect(await lastError(harness) == (isRefused ? "insecure_endpoint" : nil))
        }
    }

    @Test func `gets no id token through a browser over plain http either`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode) {
            $0.endpoints[.endSession] = HTTPURL("http://sso.example/end")
        }
        harness.store.replace(with: harness.stored(1, refreshToken: "rt0"))
        try await harness.run {
            let outcome = await harness.session.logOut()
            #expect(outcome.request == nil && outcome.endSession == .failed)
            #expect(outcome.failures.last?.code == "insecure_endpoint")
        }
    }

    // MARK: Basic credentials

    private func basic(_ secret: String, isFormEncoded: Bool) -> String {
        ClientProof.basicCredentials(clientID: "app", secret: Secret(secret), isFormEncoded: isFormEncoded)
    }

    @Test func `that does not decode credentials gets them raw, and that is remembered`() async throws {
        let harness = SessionHarness { $0.authentication = .basic }
        harness.secret.set("a+b")
        harness.server.script(.status(401))
        try await harness.run {
            await harness.pass(.seconds(240))
            let form = basic("a+b", isFormEncoded: true)
            let raw = basic("a+b", isFormEncoded: false)
            #expect(harness.server.credentials == [form, raw, raw])
            #expect(harness.store.stored()?.basicEncoding == .raw)

            let restarted = SessionHarness(sharing: harness) { $0.authentication = .basic }
            restarted.secret.set("a+b")
            try await restarted.run {
                await harness.pass(.seconds(240))
                await restarted.settle()
                #expect(harness.server.credentials.last == raw)
            }
        }
    }

    @Test func `is not asked twice when the encodings agree, or one is configured`() async throws {
        for (secret, encoding) in [("plain", BasicEncoding.automatic), ("a+b", .form), ("a+b", .raw)] {
            let harness = SessionHarness {
                $0.authentication = .basic
                $0.basicEncoding = encoding
            }
            harness.secret.set(secret)
            harness.server.script(.status(401, #"{"error":"invalid_client"}"#))
            try await harness.run {
                #expect(harness.server.credentials == [basic(secret, isFormEncoded: encoding != .raw)])
                #expect(await harness.session.status.state == .misconfigured)
            }
        }
    }

    @Test func `that takes neither encoding is asked in the first one again`() async throws {
        let harness = SessionHarness { $0.authentication = .basic }
        harness.secret.set("a+b")
        harness.server.script(.status(401), .status(401))
        try await harness.run {
            await harness.pass(.seconds(1))
            let form = basic("a+b", isFormEncoded: true)
            #expect(harness.server.credentials == [form, basic("a+b", isFormEncoded: false), form])
        }
    }

    @Test func `is asked at once when the secret changes`() async throws {
        let harness = SessionHarness { $0.authentication = .basic }
        harness.secret.set("old")
        harness.server.script(.status(401, #"{"error":"invalid_client"}"#))
        try await harness.run {
            harness.secret.set("new")
            await harness.session.credentialsChanged()
            await harness.settle()
            #expect(harness.token == "at1")
            #expect(harness.server.credentials.last == basic("new", isFormEncoded: true))
        }
    }
}
