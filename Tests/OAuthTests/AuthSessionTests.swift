// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

struct `A session` {
    @Test func `fetches its token at the start and keeps it fresh, idle or not`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            #expect(harness.token == "at1")
            await harness.pass(.seconds(239))
            #expect(harness.token == "at1")
            await harness.pass(.seconds(1))
            #expect(harness.token == "at2")
            await harness.pass(.seconds(240))
            #expect(harness.token == "at3")
            #expect(harness.server.bodies.count == 3)
        }
    }

    @Test func `waits for a person before it has anything to refresh with`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run {
            await #expect(throws: TokenError.loginRequired) { try await harness.request() }
            #expect(harness.server.bodies.isEmpty)
            await #expect(throws: TokenError.loginRequired) {
                try await harness.session.refresh(waitingAtMost: .seconds(1))
            }
        }
    }

    @Test func `makes one request for two hundred clients, and answers all`() async throws {
        let harness = SessionHarness()
        harness.server.script(.held)
        try await harness.run {
            try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<200 { group.addTask { try await harness.request() } }
                await harness.settle()
                harness.server.release()
                for try await token in group { #expect(token == "at1") }
            }
            #expect(harness.server.bodies.count == 1)
        }
    }

    @Test func `gives who takes tokens away the next one, where that is being fetched`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(.held)
            await harness.pass(.seconds(250))
            let old = try await harness.request()
            #expect(old == "at1" && harness.token == "at1", "requests do not wait")
            let taker = Task { try await harness.session.withFreshTokens { $0.accessToken } }
            await harness.settle()
            harness.server.release()
            let new = try await taker.value
            #expect(new == "at2")
        }
    }

    @Test func `says whether a token that is taken away is bound to a key`() async throws {
        for proofs in [DPoPPolicy.never, .always] {
            let harness = SessionHarness { $0.proofs = proofs }
            if proofs == .always {
                harness.server.script(
                    .status(200, #"{"access_token":"at-b","token_type":"DPoP","expires_in":300}"#))
            }
            try await harness.run {
                let isBound = try await harness.session.withFreshTokens { $0.isBound }
                #expect(isBound == (proofs == .always))
            }
        }
    }

    @Test(arguments: [FakeServer.Reply.status(500), .held])
    func `gives who takes tokens away the old one, where the next is not to be had`(
        reply: FakeServer.Reply
    ) async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(reply)
            await harness.pass(.seconds(250))
            let taker = Task { try await harness.session.withFreshTokens { $0.accessToken } }
            await harness.settle()
            await harness.pass(.seconds(10))
            let old = try await taker.value
            #expect(old.hasPrefix("at"))
            harness.server.release()
        }
    }

    @Test func `goes on with a request whose client has gone`() async throws {
        let harness = SessionHarness()
        harness.server.script(.held)
        try await harness.run {
            let client = Task { try await harness.request() }
            await harness.settle()
            client.cancel()
            await #expect(throws: TokenError.cancelled) { try await client.value }
            harness.server.release()
            await harness.settle()
            #expect(harness.token == "at1")
        }
    }

    @Test func `lets nobody wait beyond the limit`() async throws {
        let harness = SessionHarness()
        harness.server.script(.held)
        try await harness.run {
            let client = Task { try await harness.request() }
            await harness.settle()
            await harness.pass(.seconds(10))
            await #expect(throws: TokenError.unavailable(retryAfter: .seconds(1))) { try await client.value }
            harness.server.release()
            await harness.settle()
            let token = try await harness.request()
            #expect(token == "at1")
        }
    }

    @Test func `rides out a short outage`() async throws {
        let harness = SessionHarness()
        harness.server.script(.status(503), .error(.unreachable("refused")), .held)
        try await harness.run {
            let client = Task { try await harness.request() }
            await harness.settle()
            await harness.pass(.milliseconds(200))
            await harness.pass(.milliseconds(400))
            harness.server.release()
            let token = try await client.value
            #expect(token == "at1")
        }
    }

    @Test func `answers at once while the next try is far away`() async throws {
        let harness = SessionHarness()
        var unavailable = TransportResponse(status: 503)
        unavailable.fields.append(.retryAfter, "60")
        harness.server.script(.response(unavailable))
        try await harness.run {
            await #expect(throws: TokenError.unavailable(retryAfter: .seconds(60))) {
                try await harness.request()
            }
            #expect(await harness.session.status.state == .unavailable)
            await harness.pass(.seconds(60))
            let token = try await harness.request()
            #expect(token == "at1")
        }
    }

    @Test func `repeats a refresh whose answer was lost at once, once`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(.error(.interrupted("reset")))
        try await harness.run("rt0") {
            #expect(harness.token == "at1")
            let request = "grant_type=refresh_token&refresh_token=rt0&client_id=app"
            #expect(harness.server.bodies == [request, request])

            harness.server.script(.error(.interrupted("reset")), .error(.interrupted("reset")))
            await harness.pass(.seconds(240))
            #expect(harness.server.bodies.count == 4)
            await harness.pass(.milliseconds(199))
            #expect(harness.server.bodies.count == 4)
            await harness.pass(.milliseconds(1))
            #expect(harness.server.bodies.count == 4, "somebody else may have sent it since")
            await harness.pass(.seconds(5))
            #expect(harness.server.bodies.count == 5 && harness.token == "at2")
        }
    }

    @Test(arguments: [TransportError.unreachable("refused"), .notHTTP("rubbish")])
    func `repeats nothing at once that was no lost answer`(error: TransportError) async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(.error(error))
        try await harness.run("rt0") { #expect(harness.server.bodies.count == 1) }
    }

    @Test func `keeps the last stored session that worked until a newer one has`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        func previous() -> String? { harness.store.previous?.refreshToken?.withPlaintext { $0 } }
        try await harness.run("rt0") {
            #expect(previous() == "rt0")
            // Written again before anybody knows whether rt1 is any good.
            harness.server.script(.status(400, #"{"error":"invalid_grant"}"#))
            try? await harness.session.refresh(waitingAtMost: .seconds(1))
            await harness.settle()
            #expect(harness.store.stored()?.refusal == .invalidGrant && previous() == "rt0")
            try await harness.session.refresh(waitingAtMost: .seconds(1))
            #expect(previous() == "rt1")
            // The newest access token works: so does what the store holds.
            let generation = await harness.session.status.generation
            await harness.session.accessTokenAccepted(generation: generation, route: "/")
            harness.server.script(.status(400, #"{"error":"invalid_grant"}"#))
            try? await harness.session.refresh(waitingAtMost: .seconds(1))
            await harness.settle()
            #expect(previous() == "rt2")
        }
    }

    @Test func `stores before it uses`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            #expect(
                harness.journal.entries == [
                    "adopted 1", "state refreshing", "request", "refresh_token success", "saved 2 rt1",
                    "state authorized",
                ])
            #expect(harness.server.bodies == ["grant_type=refresh_token&refresh_token=rt0&client_id=app"])
            await harness.pass(.seconds(240))
            #expect(harness.server.bodies.last == "grant_type=refresh_token&refresh_token=rt1&client_id=app")
        }
    }

    @Test func `uses what it cannot store, and tries to store it every five seconds`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isBroken = true
        try await harness.run("rt0") {
            #expect(harness.token == "at1")
            #expect(harness.journal.entries.contains("save failed"))
            await harness.pass(.seconds(5))
            await harness.pass(.seconds(5))
            #expect(harness.journal.entries.count { $0 == "save failed" } == 3)
            harness.store.isBroken = false
            await harness.pass(.seconds(5))
            #expect(harness.journal.entries.suffix(2) == ["saved 2 rt1", "save recovered"])
            await harness.pass(.seconds(500))
            #expect(harness.store.stored()?.refreshToken?.matches(Array("rt2".utf8)) == true)
        }
    }

    @Test func `lets nobody wait longer because the store is stuck`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isBroken = true
        harness.server.script(.status(200, #"{"access_token":"first","expires_in":300}"#))
        try await harness.run("rt0") {
            await harness.store.lock()
            await harness.pass(.seconds(5))
            await harness.pass(.seconds(300))
            let client = Task { try await harness.request() }
            await harness.settle()
            await harness.pass(.seconds(10))
            await #expect(throws: TokenError.self) { try await client.value }
            harness.store.isBroken = false
            harness.store.unlock()
            await harness.settle()
            #expect(harness.token == "at1")
        }
    }

    @Test func `refreshes from memory while it cannot store`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.store.isBroken = true
        try await harness.run("rt0") {
            await harness.pass(.seconds(240))
            #expect(harness.token == "at2")
            #expect(harness.server.bodies.last == "grant_type=refresh_token&refresh_token=rt1&client_id=app")
            harness.store.isBroken = false
            await harness.pass(.seconds(5))
            #expect(harness.store.stored()?.generation == 3)
        }
    }

    @Test func `keeps the refresh token of a broken answer`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(.status(200, #"{"refresh_token":"kept"}"#), .held)
        try await harness.run("rt0") {
            #expect(harness.store.stored()?.refreshToken?.matches(Array("kept".utf8)) == true)
            await harness.pass(.milliseconds(200))
            #expect(harness.server.bodies.last?.contains("refresh_token=kept") == true)
            harness.server.release()
        }
    }

    @Test func `makes a configured grant again when its refresh token died`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(.status(400, #"{"error":"invalid_grant"}"#))
            await harness.pass(.seconds(240))
            #expect(harness.token == "at2")
            #expect(
                harness.server.bodies.map { $0.split(separator: "&").first ?? "" } == [
                    "grant_type=client_credentials", "grant_type=refresh_token",
                    "grant_type=client_credentials",
                ])
        }
    }

    @Test func `stays logged out over a restart`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        harness.server.script(.status(400, #"{"error":"invalid_grant"}"#))
        try await harness.run("rt0") {
            #expect(await harness.session.status.state == .loginRequired)
            #expect(harness.store.stored()?.refusal == .invalidGrant)
            let restarted = SessionHarness(grantType: .refreshToken, sharing: harness)
            try await restarted.run {
                #expect(await restarted.session.status.state == .loginRequired)
                await harness.pass(.seconds(86_400))
                #expect(harness.server.bodies.count == 1)
                try await restarted.session.refresh(waitingAtMost: .seconds(10))
                #expect(restarted.token == "at1")
            }
            await harness.settle()
        }
    }

    @Test func `tells a person who asks for a refresh how it went`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            try await harness.session.refresh(waitingAtMost: .seconds(10))
            #expect(harness.token == "at2")
            harness.server.script(.status(401, #"{"error":"invalid_client"}"#))
            await #expect(throws: TokenError.misconfigured(retryAfter: .seconds(1))) {
                try await harness.session.refresh(waitingAtMost: .seconds(10))
            }
            #expect(harness.token == "at2")
            #expect(await harness.session.status.lastError?.code == "invalid_client")
        }
    }

    @Test func `invalidates a token for good`() async throws {
        let harness = SessionHarness()
        try await harness.run {
            harness.server.script(.status(503))
            await #expect(throws: TokenError.self) {
                try await harness.session.invalidate(waitingAtMost: .seconds(10))
            }
            #expect(harness.token == nil)
            await harness.settle()
            #expect(harness.store.stored()?.accessToken == nil, "a restart must not bring it back")
            await harness.pass(.milliseconds(200))
            #expect(harness.token == "at2")
        }
    }

    @Test func `wakes everybody when it stops`() async throws {
        let harness = SessionHarness()
        harness.server.script(.held)
        await harness.session.start()
        await harness.settle()
        let client = Task { try await harness.request() }
        await harness.settle()
        #expect(await harness.session.stop(), "the configuration brings again what is in flight")
        await #expect(throws: TokenError.self) { try await client.value }
        harness.server.release()
        await #expect(throws: TokenError.stopped) { try await harness.request() }
    }
}
