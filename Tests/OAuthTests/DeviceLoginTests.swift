// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

/// RFC 8628.
@Suite
struct `A login on another device` {
    private func harness() -> SessionHarness {
        SessionHarness(grantType: .authorizationCode) { configuration in
            configuration.endpoints[.deviceAuthorization] = HTTPURL("https://sso.example/device")
            configuration.scope = ["read"]
        }
    }

    private static let deviceAnswer =
        #"{"device_code":"dc","user_code":"AB-CD","verification_uri":"https://sso.example/d","expires_in":60,"interval":5}"#

    /// The seconds after which the token endpoint was asked, until the login's end.
    private func polls(
        _ harness: SessionHarness, _ replies: [FakeServer.Reply]
    ) async throws -> (seconds: [Int], error: LoginError?) {
        harness.server.script(.status(200, Self.deviceAnswer))
        let device = try await harness.session.authorizeDevice()
        #expect(device.userCode == "AB-CD" && device.verificationURI == "https://sso.example/d")
        for reply in replies { harness.server.script(reply) }
        let isOver = Flag()
        let login = Task {
            defer { isOver.raise() }
            return await failure { () async throws(LoginError) in
                try await harness.session.logIn(with: device)
            }
        }
        var seconds: [Int] = []
        var asked = harness.server.bodies.count
        for second in 0...70 {
            await harness.settle()
            if harness.server.bodies.count > asked {
                asked = harness.server.bodies.count
                seconds.append(second)
            }
            if isOver.isRaised { break }
            harness.clock.advance(by: .seconds(1))
        }
        return (seconds, await login.value)
    }

    private func no(_ code: String) -> FakeServer.Reply { .status(400, #"{"error":"\#(code)"}"#) }

    @Test func `without an id token is none where the scope has openid`() async throws {
        let harness = SessionHarness(grantType: .deviceCode) { configuration in
            configuration.endpoints[.deviceAuthorization] = HTTPURL("https://sso.example/device")
            configuration.furtherResources = ["https://api.example"]
        }
        try await harness.run {
            let (_, error) = try await polls(harness, [.status(200, #"{"access_token":"at","id_token":5}"#)])
            guard case .failed(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.reason == .badIDToken && harness.store.stored() == nil)
            let asked = harness.server.bodies.first ?? ""
            #expect(asked.contains("scope=openid&resource=https%3A%2F%2Fapi.example"), "\(asked)")
        }
    }

    @Test func `has its code sent to no other server, and by no other client`() async throws {
        let harness = harness()
        try await harness.run {
            harness.server.script(.status(200, Self.deviceAnswer))
            var device = try await harness.session.authorizeDevice()
            #expect(await device.binding == harness.session.ownClient.binding)
            device.binding = "https://elsewhere.example app"
            let foreign = device
            let error = await failure { () async throws(LoginError) in
                try await harness.session.logIn(with: foreign)
            }
            guard case .failed(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.reason == .superseded && harness.server.bodies.count == 1)
        }
    }

    @Test func `asks at the pace it is told`() async throws {
        let harness = harness()
        try await harness.run {
            let pending = no("authorization_pending")
            let (seconds, error) = try await polls(
                harness,
                [pending, pending, no("slow_down"), pending, .status(200, #"{"access_token":"at"}"#)])
            #expect(error == nil)
            #expect(seconds == [5, 10, 15, 25, 35])
            #expect(harness.server.bodies.last?.contains("device_code=dc") ?? false)
            #expect(harness.store.stored()?.accessToken != nil)
        }
    }

    @Test func `proves that the one who asks is the one who began`() async throws {
        let harness = harness()
        try await harness.run {
            _ = try await polls(harness, [.status(200, #"{"access_token":"at"}"#)])
            let (begun, asked) = (
                harness.server.bodies.suffix(2).first ?? "", harness.server.bodies.last ?? ""
            )
            let verifier = try #require(asked.firstMatch(of: #/code_verifier=([^&]{43})/#)).output.1
            let challenge = Base64URL.encode(SHA256.digest(Array(verifier.utf8)))
            #expect(begun.contains("code_challenge=\(challenge)&code_challenge_method=S256"), "\(begun)")
            #expect(!begun.contains(verifier))
        }
    }

    @Test func `backs off from a server that does not answer`() async throws {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(
                harness, [.error(.timedOut), .status(503), .status(200, #"{"access_token":"at"}"#)])
            #expect(error == nil)
            #expect(seconds == [5, 15, 35])
        }
    }

    @Test func `tells of the server where that was silent to the end, and not of the person`() async throws {
        for (last, reason) in [
            (FakeServer.Reply.status(503), TokenFailure.Reason.status(503)),
            (no("authorization_pending"), nil),
        ] {
            let harness = harness()
            try await harness.run {
                let (_, error) = try await polls(harness, [.status(503), last, last, last, last, last])
                guard let reason else { return #expect(error == .expired) }
                guard case .failed(let failure)? = error else {
                    Issue.record("\(String(describing: error))")
                    return
                }
                #expect(failure.reason == reason)
            }
        }
    }

    @Test func `is waited for longer than other answers are, because its code is spent`() async throws {
        let harness = harness()
        try await harness.run {
            _ = try await polls(harness, [.status(200, #"{"access_token":"at"}"#)])
            #expect(harness.server.last?.sentTimeLimit == .seconds(60))
        }
    }

    @Test(arguments: ["invalid_grant", "access_denied", "expired_token", "invalid_client"])
    func `goes on where a broken gateway says that it is over`(code: String) async throws {
        let harness = harness()
        try await harness.run {
            let (_, error) = try await polls(
                harness,
                [.status(503, #"{"error":"\#(code)"}"#), .status(200, #"{"access_token":"at"}"#)])
            #expect(error == nil)
        }
    }

    /// The code is spent then.
    @Test func `keeps the refresh token that came beside an access token of no use`() async throws {
        let harness = harness()
        try await harness.run {
            let (_, error) = try await polls(
                harness, [.status(200, #"{"access_token":"at","expires_in":0,"refresh_token":"rt"}"#)])
            #expect(error == nil && harness.store.stored()?.refreshToken != nil)
        }
    }

    @Test func `ends with the code's expiry`() async throws {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(
                harness, Array(repeating: no("authorization_pending"), count: 20))
            #expect(error == .expired)
            #expect(seconds.last == 55)
        }
    }

    @Test(arguments: [
        ("access_denied", LoginError.refused(AuthorizationRefusal(code: .accessDenied, description: nil))),
        ("expired_token", .expired),
    ])
    func `ends with the person's decision`(code: String, expected: LoginError) async throws {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(harness, [no(code)])
            #expect(error == expected)
            #expect(seconds == [5])
        }
    }

    @Test(arguments: [
        "invalid_grant", "invalid_client", "unheard_of", "interrupted", "unreachable", "http_unavailable",
    ])
    func `ends with any other refusal`(code: String) async throws {
        let harness = harness()
        try await harness.run {
            let (seconds, error) = try await polls(harness, [no(code)])
            guard case .failed(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.code == code)
            #expect(seconds == [5])
        }
    }

    @Test(arguments: [
        "{}", #"{"device_code":"d"}"#,
        #"{"device_code":"d","user_code":"\u001b[31m","verification_uri":"https://x"}"#,
        #"{"device_code":"d","user_code":"A","verification_uri":"javascript:alert(1)"}"#,
        #"{"device_code":"d","user_code":"A","verification_uri":"file:///etc/passwd"}"#,
    ])
    func `needs an answer that can be shown`(body: String) async throws {
        let harness = harness()
        try await harness.run {
            harness.server.script(.status(200, body))
            await #expect(throws: TokenFailure.self) { _ = try await harness.session.authorizeDevice() }
        }
    }
}
