// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// No answer of a provider stops later refreshes: scopes and resources are put right at the provider, too.
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
    func `is made again after a back-off, whether or not the refresh token is replaced`(code: String) throws {
        for isRotating in [true, false, nil] as [Bool?] {
            let harness = refused(code) { harness in
                guard let isRotating else { return }
                harness.renew(to: "one", refreshToken: isRotating ? "rt2" : nil)
                harness.pass(.seconds(300))
            }
            #expect(harness.word == .misconfigured && harness.answer == "misconfigured")
            #expect(harness.nextAttempt == .seconds(1))
            harness.pass(.seconds(1))
            #expect(harness.begins())
            refuse(harness, code)
            #expect(harness.nextAttempt == .seconds(2))
        }
    }

    @Test func `is made again at once when a secret changes, and after a restart`() throws {
        let harness = refused("invalid_scope")
        harness.state.credentialsChanged(at: harness.now)
        #expect(harness.begins())
        let stored = try #require(StoredSession(decoding: harness.state.session.encoded()))
        let next = EngineHarness(grantType: .refreshToken)
        next.state.found(stored, at: next.now, wall: next.wall, jitter: 0)
        #expect(next.begins())
    }

    @Test func `is made again where a version before had stopped for good`() throws {
        var text = String(decoding: refused("invalid_scope").state.session.encoded(), as: UTF8.self)
        let request = ClientConfiguration(name: "default", clientID: "app", grantType: .refreshToken)
            .requestDigest
        text.replace("{", with: #"{"barred_requests": {"\#(request)": "invalid_scope"},"#, maxReplacements: 1)
        let stored = try #require(StoredSession(decoding: Array(text.utf8)))
        let next = EngineHarness(grantType: .refreshToken)
        next.state.found(stored, at: next.now, wall: next.wall, jitter: 0)
        #expect(next.begins())
        #expect(!String(decoding: stored.encoded(), as: UTF8.self).contains("barred_requests"))
    }

    @Test func `is made again for a person, and by itself from then on`() throws {
        let harness = refused("invalid_target")
        try harness.state.refreshRequested(at: harness.now)
        #expect(harness.begins())
        harness.land("one", refreshToken: "rt2")
        #expect(harness.word == .authorized && harness.nextAttempt != nil)
    }

    @Test func `leaves the token that there is in use`() {
        let harness = EngineHarness(grantType: .refreshToken, refreshToken: "rt")
        harness.renew(to: "one")
        harness.state.rotates = nil
        harness.pass(.seconds(250))
        refuse(harness, "invalid_target")
        #expect(harness.token == "one" && harness.answer == "one")
        #expect(harness.reject() == "pass" && !harness.begins())
    }
}
