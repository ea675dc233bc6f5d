// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

/// What a session makes of a store that fails.
struct `A session whose store fails` {
    @Test func `at the start knows that it knows nothing, and reads again by itself`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isUnreadable = true
        try await harness.run("rt0") {
            let status = await harness.session.status
            #expect(status.state == .unavailable && status.lastError?.code == "store_unavailable")
            #expect(status.lastError?.detail == "no reading")
            let client = Task { try await harness.request() }
            await harness.settle()
            await harness.pass(.milliseconds(100))
            await #expect(throws: TokenError.storeUnavailable(retryAfter: .seconds(1))) {
                try await client.value
            }
            harness.store.isUnreadable = false
            await harness.pass(.seconds(5))
            #expect(harness.token == "at1")
            #expect(await harness.session.status.lastError == nil)
            #expect(harness.journal.entries.contains("load recovered"))
        }
    }

    @Test func `reads again for the next request, once for all that come`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isUnreadable = true
        try await harness.run("rt0") {
            harness.store.isUnreadable = false
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await harness.request() } }
                await harness.settle()
                await harness.pass(.milliseconds(100))
                for try await token in group { #expect(token == "at1") }
            }
            #expect(harness.server.bodies.count == 1)
        }
    }

    @Test func `reads again when another process has stored something`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run {
            harness.store.isUnreadable = true
            harness.store.replace(with: harness.stored(1, refreshToken: "rt0"))
            await harness.settle()
            #expect(await harness.session.status.lastError?.code == "store_unavailable")
            await #expect(throws: TokenError.storeUnavailable(retryAfter: .seconds(1))) {
                try await harness.session.refresh(waitingAtMost: .seconds(1))
            }
            harness.store.isUnreadable = false
            await harness.pass(.seconds(5))
            #expect(harness.token == "at1")
        }
    }

    @Test(arguments: [true, false])
    func `sends no refresh token that another one may have spent`(canLock: Bool) async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            #expect(harness.token == "at1")
            harness.store.isUnlockable = !canLock
            harness.store.isUnreadable = canLock
            // Meanwhile another process rotates it.
            harness.store.replace(with: harness.stored(9, refreshToken: "rt9"), notifying: false)
            await harness.pass(.seconds(240))
            for _ in 0..<5 { await harness.pass(.seconds(5)) }
            #expect(harness.server.bodies.count == 1)
            #expect(harness.token == "at1", "it has not expired")
            #expect(await harness.session.status.lastError?.code == "store_unavailable")
            harness.store.isUnlockable = false
            harness.store.isUnreadable = false
            await harness.pass(.seconds(5))
            #expect(harness.server.bodies.last == "grant_type=refresh_token&refresh_token=rt9&client_id=app")
            #expect(harness.token == "at2")
        }
    }

    @Test func `still makes a grant for which nobody needs the store`() async throws {
        let harness = SessionHarness()
        harness.store.isUnreadable = true
        try await harness.run("rt0") {
            #expect(harness.token == "at1")
            await harness.pass(.seconds(240))
            #expect(
                harness.server.bodies.map { $0.split(separator: "&").first ?? "" }
                    == ["grant_type=client_credentials", "grant_type=client_credentials"])
        }
    }

    @Test func `goes on storing at its end for as long as it may, with the lock in hand`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isBroken = true
        harness.server.script(
            .status(200, #"{"access_token":"at1","expires_in":9,"refresh_token":"rt1"}"#))
        try await harness.run("rt0") {
            let stop = Task { await harness.session.stop(savingFor: .seconds(300)) }
            await harness.settle()
            let other = Task { await harness.store.lock() }
            for _ in 0..<10 { await harness.pass(.seconds(2)) }
            let requests = harness.server.bodies.count
            harness.store.isBroken = false
            await harness.pass(.seconds(2))
            _ = await stop.value
            let newest = harness.store.stored()?.refreshToken?.withPlaintext { $0 }
            await other.value
            harness.store.unlock()
            #expect(newest == "rt1")
            #expect(harness.server.bodies.count == requests && requests == 1)
        }
    }

    @Test func `puts back at its end what somebody took away, as soon as that can be written`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.isBroken = true
            harness.store.lose()
            let stop = Task { await harness.session.stop(savingFor: .seconds(30)) }
            await harness.settle()
            for _ in 0..<5 { await harness.pass(.seconds(1)) }
            harness.store.isBroken = false
            await harness.pass(.seconds(1))
            #expect(await stop.value)
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt1".utf8)) == true)
        }
    }

    @Test func `says at its end that something is lost`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isBroken = true
        try await harness.run("rt0") {
            let stop = Task { await harness.session.stop(savingFor: .seconds(3)) }
            await harness.settle()
            for _ in 0..<5 { await harness.pass(.seconds(1)) }
            #expect(await !stop.value)
            #expect(await harness.session.unsavedReason == "no space")
        }
    }

    @Test func `waits at its end for nothing that its configuration brings again`() async throws {
        let harness = SessionHarness()
        harness.store.isBroken = true
        harness.server.script(.status(200, #"{"access_token":"at","expires_in":300}"#))
        try await harness.run {
            #expect(harness.token == "at")
            #expect(await harness.session.stop(savingFor: .seconds(300)))
        }
    }

    @Test func `writes nothing over what it cannot read`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isBroken = true
        try await harness.run("rt0") {
            harness.store.isBroken = false
            harness.store.isUnreadable = true
            let theirs = harness.stored(9, accessToken: "theirs", refreshToken: "rt9")
            harness.store.replace(with: theirs, notifying: false)
            await harness.pass(.seconds(5))
            #expect(harness.store.stored()?.generation == 9)
            harness.store.isUnreadable = false
            await harness.pass(.seconds(5))
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt9".utf8)) == true)
            #expect(await harness.session.status.generation >= 9)
        }
    }

    @Test func `puts back what somebody took away, or replaced with an older copy`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            harness.store.lose()
            await harness.settle()
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt1".utf8)) == true)
            harness.store.replace(with: harness.stored(1, refreshToken: "rt0"))
            await harness.settle()
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt1".utf8)) == true)
            #expect(harness.token == "at1" && harness.server.bodies.count == 1)
        }
    }

    @Test func `brings nothing back of a session that ended`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            var empty = harness.stored(9, refreshToken: "")
            empty.refreshToken = nil
            harness.store.lose()
            harness.store.replace(with: empty)
            await harness.settle()
            #expect(harness.store.stored()?.refreshToken == nil && harness.token == nil)
        }
    }

    @Test func `keeps the connection of a rotation, unless the server is known to keep refresh tokens`()
        async throws
    {
        let harness = SessionHarness(grantType: .refreshToken)
        let same = FakeServer.Reply.status(200, #"{"access_token":"at","expires_in":300}"#)
        harness.server.script(same, same, same, same)
        try await harness.run("rt0") {
            #expect(harness.server.last?.sentTimeLimit == .seconds(600))
            #expect(harness.server.last?.timeLimit == .seconds(10), "before it is sent nothing can be lost")
            for _ in 0..<3 { await harness.pass(.seconds(240)) }
            #expect(harness.server.bodies.count == 4 && harness.server.last?.sentTimeLimit == nil)
        }
    }

    @Test func `ends at a logout at once, whoever has the lock, and revokes what that one stored`()
        async throws
    {
        let harness = SessionHarness(grantType: .refreshToken) {
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
        }
        try await harness.run("rt0") {
            await harness.store.lock()
            let logout = Task { await harness.session.logOut() }
            while harness.token != nil { await harness.settle() }
            #expect(await harness.session.status.state == .loginRequired)
            harness.store.replace(with: harness.stored(9, accessToken: "theirs", refreshToken: "rt9"))
            await harness.settle()
            #expect(harness.token == nil && harness.store.stored()?.generation == 9)
            harness.store.unlock()
            #expect(await logout.value.storeFailure == nil)
            let asked = harness.server.bodies.suffix(2).map { String($0.prefix { $0 != "&" }) }
            #expect(asked == ["token=rt9", "token=theirs"])
            #expect(harness.store.stored()?.holdsTokens == false)
            #expect((harness.store.stored()?.generation ?? 0) > 9)
            #expect(await harness.session.status.lastError == nil)
        }
    }

    @Test(arguments: ["busy", "broken", "unreadable"])
    func `forgets and revokes at a logout all the same, and stores that later`(fault: String) async throws {
        let harness = SessionHarness(grantType: .refreshToken) {
            $0.endpoints[.revocation] = HTTPURL("https://sso.example/revoke")
        }
        try await harness.run("rt0") {
            harness.store.isBusy = fault == "busy"
            harness.store.isBroken = fault == "broken"
            harness.store.isUnreadable = fault == "unreadable"
            harness.server.script(.status(503), .status(204))
            let outcome = await harness.session.logOut()
            #expect(
                outcome.storeFailure != nil && outcome.revocation == .failed && outcome.failures.count == 1)
            let asked = harness.server.bodies.suffix(2).map { String($0.prefix { $0 != "&" }) }
            #expect(asked == ["token=rt1", "token=at1"])
            #expect(harness.token == nil)
            // A frozen holder of the lock wakes, and stores what it got.
            harness.store.replace(with: harness.stored(9, accessToken: "theirs", refreshToken: "rt9"))
            await harness.settle()
            #expect(harness.token == nil)
            harness.store.isBusy = false
            harness.store.isBroken = false
            harness.store.isUnreadable = false
            await harness.pass(.seconds(5))
            #expect(harness.store.stored()?.holdsTokens == false)
            #expect((harness.store.stored()?.generation ?? 0) > 9)
        }
    }
}
