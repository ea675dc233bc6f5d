// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// What another client began is that client's to the end: refresh tokens are bound to it (RFC 6749 §6).
struct `A session that another client began` {
    private let person = Person(id: "17", email: "alice@example.com", isEmailVerified: true)

    @Test func `keeps its client id, over restarts, and who the person is`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        try await harness.run {
            let session = harness.session
            #expect(try await session.take(Secret("rt0"), scope: ["api"], clientID: "old", person: person))
            await harness.settle()
            #expect(await session.clientID == "old" && harness.token == "at1")
            #expect(await session.person == person)
            try await session.refresh(waitingAtMost: .seconds(1))
            #expect(harness.server.bodies.allSatisfy { $0.hasSuffix("&client_id=old") })
            // The same once more is no news.
            #expect(try await !session.take(Secret("rt0"), clientID: "old"))
        }
        let stored = try #require(harness.store.stored())
        harness.store.replace(with: try #require(StoredSession(decoding: stored.encoded())))
        let again = SessionHarness(grantType: .authorizationCode, sharing: harness)
        try await again.run {
            #expect(await again.session.clientID == "old" && again.token == "at2")
            try await again.session.refresh(waitingAtMost: .seconds(1))
            #expect(harness.server.bodies.last?.hasSuffix("&client_id=old") == true)
            #expect(await again.session.person == person)
        }
    }

    @Test func `is taken from no process that has another server or client configured`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode)
        try await harness.run {
            let session = harness.session
            try await session.take(Secret("rt0"))
            await harness.settle()
            let asked = harness.server.bodies.count
            let error = await #expect(throws: LoginError.self) {
                _ = try await session.take(
                    configuredFor: "https://elsewhere.example app", Secret("rt9"), idToken: nil, scope: [],
                    clientID: "old", person: nil)
            }
            guard case .failed(let failure)? = error else {
                Issue.record("\(String(describing: error))")
                return
            }
            #expect(failure.reason == .superseded && harness.token == "at1")
            #expect(harness.server.bodies.count == asked)
            let ours = await session.ownClient.binding
            #expect(
                try await session.take(
                    configuredFor: ours, Secret("rt9"), idToken: nil, scope: [], clientID: "old",
                    person: nil))
        }
    }

    @Test func `proves itself with its own secret, and never with that of the client that logs in`()
        async throws
    {
        for (secret, expected) in [(Secret("theirs"), "Basic b2xkOnRoZWlycw=="), (nil, nil)] {
            let harness = SessionHarness(grantType: .authorizationCode) { $0.authentication = .basic }
            harness.secret.set("ours")
            try await harness.run {
                try await harness.session.take(Secret("rt0"), clientID: "old", clientSecret: secret)
                await harness.settle()
                #expect(harness.server.last?.fields[.authorization] == expected)
                #expect(harness.token == "at1")
            }
        }
    }

    @Test func `ends with a login, which is the configured client's`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode) {
            $0.endpoints[.authorization] = HTTPURL("https://sso.example/authorize")
            $0.scope = ["api"]
        }
        try await harness.run {
            let session = harness.session
            try await session.take(Secret("rt0"), clientID: "old", person: person)
            await harness.settle()
            let flow = try await session.authorizationFlow(redirectURI: "app:/cb")
            #expect(flow.url.contains("client_id=app&"))
            let state = flow.request.state.withPlaintext { $0 }
            harness.server.script(
                .status(200, #"{"access_token":"new","expires_in":300,"refresh_token":"rtn"}"#))
            try await session.logIn(
                with: flow.response(to: "app:/cb?code=c&state=\(state)&session_state=s&id_token=x"))
            #expect(harness.server.bodies.last?.hasSuffix("&client_id=app") == true)
            #expect(await session.clientID == "app" && harness.token == "new")
            #expect(await session.person == nil)
            try await session.refresh(waitingAtMost: .seconds(1))
            #expect(harness.server.bodies.last?.contains("refresh_token=rtn&client_id=app") == true)
            // What the authorization response had is kept, and shown unless it may open something.
            #expect(await session.additionalParameters["session_state"] == "s")
            let shown = await session.status.additionalParameters.showable
            #expect(shown.map(\.name) == ["session_state"])
        }
    }

    @Test func `ends where the program says, with its own state`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode) {
            $0.endpoints[.endSession] = HTTPURL("https://sso.example/end")
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
            $0.postLogoutRedirectURI = "app:/configured"
        }
        try await harness.run {
            for (parameter, step) in [("hint", LogoutOutcome.Step.requested), ("client_id", .failed)] {
                try await harness.session.take(Secret("rt-\(parameter)"), clientID: "old")
                let outcome = await harness.session.logOut(
                    returningTo: "app:/bye", state: "mine", adding: [NamedValue(parameter, "x")])
                #expect(outcome.endSession == step && outcome.revocation == .requested)
                guard step == .requested else {
                    #expect(outcome.failures.map(\.reason) == [.badParameter])
                    continue
                }
                let request = try #require(outcome.request)
                #expect(request.isAnswered(by: "app:/bye?state=mine") && request.clientID == "old")
                #expect(!request.isAnswered(by: "app:/configured?state=mine"))
                #expect(harness.server.bodies.last?.hasSuffix("&state=mine&hint=x") == true)
            }
        }
    }

    @Test func `ends with a logout in its client's name`() async throws {
        let harness = SessionHarness(grantType: .authorizationCode) {
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
        }
        try await harness.run {
            let session = harness.session
            try await session.take(Secret("rt0"), clientID: "old")
            await harness.settle()
            let outcome = await session.logOut()
            #expect(outcome.revocation == .requested)
            #expect(harness.server.bodies.last?.hasSuffix("&client_id=old") == true)
            #expect(await session.needsLogin)
        }
    }
}
