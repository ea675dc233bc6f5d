// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// A server may replace the refresh token before it looks at what is asked for.
struct `A refresh that is refused for its scope or resource` {
    private func refused(
        _ code: String, of type: GrantType = .refreshToken, after prepare: (EngineHarness) -> Void = { _ in }
    ) -> EngineHarness {
        let harness = EngineHarness(grantType: type, refreshToken: "rt")
        prepare(harness)
        refuse(harness, code)
        return harness
    }

    private func refuse(_ harness: EngineHarness, _ code: String) {
        _ = harness.state.nextAction(at: harness.now)
        let reason = TokenFailure.Reason(ErrorCode(rawValue: code), status: 400)
        _ = harness.state.failed(
            TokenFailure(.misconfigured, reason, detail: ""), refreshToken: nil, at: harness.now,
            wall: harness.wall, jitter: 0)
        harness.state.attemptEnded(at: harness.now, isSaved: true)
    }

    @Test(arguments: ["invalid_scope", "invalid_target"])
    func `is not made again by itself, over a restart neither`(code: String) throws {
        let harness = refused(code)
        #expect(harness.word == .misconfigured && harness.answer == "misconfigured")
        #expect(harness.nextAttempt == nil)
        harness.state.credentialsChanged(at: harness.now)
        #expect(harness.nextAttempt == nil, "a secret has nothing to do with it")

        let stored = try #require(StoredSession(decoding: harness.state.session.encoded()))
        let next = EngineHarness(grantType: .refreshToken)
        next.state.found(stored, at: next.now, wall: next.wall, jitter: 0)
        #expect(next.word == .misconfigured && next.answer == "misconfigured" && next.nextAttempt == nil)
        #expect(next.state.status(at: next.now).lastError?.code == code)
    }

    @Test func `is made again for a person, and by itself from then on`() throws {
        let harness = refused("invalid_target")
        try harness.state.refreshRequested(at: harness.now)
        #expect(harness.begins())
        harness.land("one", refreshToken: "rt2")
        #expect(harness.word == .authorized && harness.nextAttempt != nil)
        #expect(harness.state.session.barredRequests.isEmpty)
    }

    @Test func `is made again when it asks for something else`() throws {
        let stored = refused("invalid_scope").state.session
        let other = EngineHarness(grantType: .refreshToken) { $0.scope = ["less"] }
        other.state.found(stored, at: other.now, wall: other.wall, jitter: 0)
        #expect(other.begins())
    }

    @Test func `is made again after a back-off where the refresh token is known to stay`() {
        let harness = refused("invalid_target") { harness in
            harness.renew(to: "one")
            harness.pass(.seconds(300))
        }
        #expect(harness.word == .misconfigured && harness.nextAttempt == .seconds(1))
        let rotating = refused("invalid_target") { harness in
            harness.renew(to: "one", refreshToken: "rt2")
            harness.pass(.seconds(300))
        }
        #expect(rotating.nextAttempt == nil)
    }

    @Test func `is made again after a back-off where nobody need log in, and for other refusals`() {
        #expect(refused("invalid_scope", of: .clientCredentials).nextAttempt == .seconds(1))
        #expect(refused("invalid_client").nextAttempt == .seconds(1))
    }

    @Test func `leaves the token that there is in use, and a 401 forces nothing`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        harness.renew(to: "one")
        harness.state.rotates = nil
        harness.pass(.seconds(250))
        refuse(harness, "invalid_target")
        #expect(harness.token == "one" && harness.answer == "one")
        #expect(harness.reject() == "pass" && !harness.begins())
    }
}
