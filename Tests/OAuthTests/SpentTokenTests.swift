// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A refresh token that was sent, and nobody knows what became of it, is not sent again before the provider has answered
/// something harmless.
struct `A session whose refresh token may be spent` {
    /// Runs `body` with a session whose provider answers nothing that is harmless until it is told to.
    private func run(
        over stored: (SessionHarness) -> StoredSession, _ body: (SessionHarness) async throws -> Void
    ) async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.isFrozen = true
        harness.store.replace(with: stored(harness))
        try await harness.run { try await body(harness) }
    }

    /// Looks that the question comes first.
    private func expectQuestion(_ harness: SessionHarness, _ token: String) async {
        #expect(shown(harness, token) == 0, "nothing harmless was answered")
        harness.server.isFrozen = false
        harness.server.release(with: .status(404))
        await harness.settle()
        #expect(shown(harness, token) == 0, "somebody else's request may still live")
        await harness.pass(.seconds(5))
        #expect(shown(harness, token) == 1)
    }

    private func shown(_ harness: SessionHarness, _ token: String) -> Int {
        harness.server.bodies.count { $0.contains("refresh_token=\(token)&") }
    }

    @Test func `asks first where the record says it, until it has another token`() async throws {
        try await run(over: { harness in
            var stored = harness.stored(1, refreshToken: "rt0")
            stored.doubt()
            return stored
        }) { harness in
            await expectQuestion(harness, "rt0")
            let stored = try #require(harness.store.stored())
            #expect(
                !stored.isDoubted && !String(decoding: stored.encoded(), as: UTF8.self).contains("doubted"))
        }
    }

    @Test func `says so in the record when it stores something else`() async throws {
        try await run(over: { $0.stored(1, accessToken: "at", refreshToken: "rt0") }) { harness in
            harness.store.spent = 1
            try await harness.session.keep(
                AuthorizationCode(
                    code: Secret("c"), redirectURI: "http://127.0.0.1/", verifier: Secret("v"),
                    nonce: Secret("n")))
            #expect(harness.store.stored()?.isDoubted == true && harness.store.stored()?.generation == 2)
            harness.store.spent = nil
            await harness.pass(.seconds(240))
            await expectQuestion(harness, "rt0")
        }
    }

    /// The failures of a refresh whose answer nobody has, or not all of it.
    static let lost: [TransportError] = [.interrupted("reset"), .responseTooLarge]

    @Test(arguments: lost)
    func `knows it where another process has stored something else meanwhile`(
        failure: TransportError
    ) async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.server.isFrozen = true
            harness.server.script(.error(failure))
            await harness.pass(.seconds(240))
            harness.server.release(with: .error(.timedOut))
            await harness.settle()
            #expect(shown(harness, "rt1") == 1 && harness.store.spent != nil)
            // What a version before makes of the mark.
            var theirs = try #require(harness.store.stored())
            theirs.generation += 1
            harness.store.spent = nil
            harness.store.replace(with: theirs)
            await harness.pass(.seconds(2))
            #expect(shown(harness, "rt1") == 1)
            harness.server.isFrozen = false
            harness.server.release(with: .status(404))
            await harness.settle()
            await harness.pass(.seconds(5))
            #expect(shown(harness, "rt1") == 2)
        }
    }

    @Test(arguments: lost)
    func `asks first where the provider has never replaced a refresh token, too`(
        failure: TransportError
    ) async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        let answer = FakeServer.Reply.status(200, #"{"access_token":"at","expires_in":300}"#)
        harness.server.script(answer, answer, .error(failure))
        try await harness.run("rt0") {
            await harness.pass(.seconds(240))
            #expect(shown(harness, "rt0") == 2)
            harness.server.isFrozen = true
            await harness.pass(.seconds(240))
            #expect(shown(harness, "rt0") == 3)
            harness.server.isFrozen = false
            harness.server.release(with: .status(404))
            await harness.settle()
            #expect(shown(harness, "rt0") == 4)
        }
    }

    @Test func `is read by versions that do not know of it, and said by them again`() throws {
        var session = StoredSession(identity: "default", generation: 1, binding: "b")
        session.refreshToken = Secret("rt")
        session.doubt()
        let next = try #require(StoredSession(decoding: session.encoded()))
        #expect(next.isDoubted)
        session.refreshToken = Secret("rt2")
        #expect(!session.isDoubted, "it is another one")
    }
}
