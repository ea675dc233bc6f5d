// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// What a login keeps of what it got, and of what there was.
extension `A login` {
    @Test func `keeps the refresh token of an answer whose access token is of no use`() async throws {
        for rest in [
            #""access_token":"a","expires_in":0"#, #""access_token":"a","token_type":"mac""#, #""x":1"#,
        ] {
            let harness = harness()
            let key = try SigningKey.generateP256()
            publish([key], on: harness)
            try await harness.run("old") {
                let body = #"{\#(rest),"refresh_token":"rt-login","id_token":"\#(try idToken(key))"}"#
                harness.server.script(.status(200, body))
                try await harness.session.logIn(with: Self.code)
                await harness.settle()
                #expect(harness.server.bodies.last?.contains("refresh_token=rt-login") == true, "\(rest)")
                #expect(await harness.session.status.state == .authorized)
            }
        }
    }

    @Test func `has its answer waited for longer than others, because its code is spent`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        try await harness.run("old") {
            harness.server.script(answer(try idToken(key)))
            try await harness.session.logIn(with: Self.code)
            let asked = harness.server.posts.first {
                String(decoding: $0.body, as: UTF8.self).contains("authorization_code")
            }
            #expect(asked?.sentTimeLimit == .seconds(60))
        }
    }

    @Test func `is used from memory while another process keeps the lock, and stored after that`()
        async throws
    {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        try await harness.run("old") {
            harness.store.isBusy = true
            harness.server.script(answer(try idToken(key)))
            await #expect(throws: LoginError.unstored(.busy(by: "process 7"))) {
                try await harness.session.logIn(with: Self.code)
            }
            #expect(harness.token == "at-login" && refreshToken(harness) != "rt-login")
            // The other process rotates what it has, many times.
            harness.store.replace(with: harness.stored(50, accessToken: "theirs", refreshToken: "theirs"))
            await harness.settle()
            #expect(harness.token == "at-login")
            harness.store.isBusy = false
            await harness.pass(.seconds(5))
            #expect(refreshToken(harness) == "rt-login")
            #expect((harness.store.stored()?.generation ?? 0) > 50, "so that everybody adopts it")
        }
    }

    @Test func `is told to nobody before it is stored, neither whole nor in part`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        try await harness.run("old") {
            let session = harness.session
            harness.server.script(
                answer(try idToken(key), accessToken: "at-alice", refreshToken: "rt-alice"),
                answer(try idToken(key) { $0["sub"] = "bobby" }))
            try await session.logIn(with: Self.code)
            harness.store.hanging = .save
            let login = Task { try await session.logIn(with: Self.code) }
            await harness.settle()
            for isStored in [false, true] {
                if isStored {
                    harness.store.hanging = nil
                    _ = try await login.value
                }
                let person = isStored ? "bobby" : "alice"
                let (token, idToken) = try await session.withFreshTokens { ($0.accessToken, $0.idToken) }
                #expect(token == (isStored ? "at-login" : "at-alice"))
                #expect(idToken.flatMap { IDToken($0) }?.subject == person)
                #expect(await session.person?.id == person)
                #expect(await session.status.personName == person)
                let rest = await session.refreshToken?.withPlaintext { $0 }
                #expect(rest == (isStored ? "rt-login" : "rt-alice"))
            }
        }
    }

    @Test func `of a command waits until it can be stored`() async throws {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        harness.store.isUnlockable = true
        harness.server.script(answer(try idToken(key)))
        let login = Task { try await harness.session.logIn(with: Self.code) }
        await harness.settle()
        await harness.pass(.seconds(2))
        harness.store.isUnlockable = false
        await harness.pass(.seconds(2))
        #expect(try await login.value.hasRefreshToken)
        #expect(refreshToken(harness) == "rt-login")
        await harness.session.stop()
    }

    @Test func `of a command is not said to be done where somebody else has begun a session meanwhile`()
        async throws
    {
        let harness = harness()
        let key = try SigningKey.generateP256()
        publish([key], on: harness)
        harness.store.isUnlockable = true
        harness.server.script(answer(try idToken(key)))
        let login = Task { try await harness.session.logIn(with: Self.code) }
        await harness.settle()
        var others = harness.stored(5, refreshToken: "theirs")
        others.began = harness.clock.wallNow + .seconds(60)
        harness.store.replace(with: others)
        harness.store.isUnlockable = false
        await harness.pass(.seconds(2))
        await #expect(throws: LoginError.unstored(.outdated)) { try await login.value }
        #expect(refreshToken(harness) == "theirs")
        await harness.session.stop()
    }

    @Test func `that is not done leaves another client's session stored, and says whose it is`() async throws
    {
        let harness = harness()
        var others = harness.stored(3, refreshToken: "theirs")
        others.binding = "https://sso.example former"
        harness.store.replace(with: others)
        try await harness.run {
            #expect(await harness.session.status.lastError?.code == "other_client")
            #expect(harness.journal.entries.count { $0 == "another client's session" } == 1)
            try await harness.session.keep(Self.code)
            #expect(refreshToken(harness) == "theirs")
            #expect(harness.store.stored()?.binding == others.binding)
            let exchanging = SessionHarness(grantType: .authorizationCode, sharing: harness)
            #expect(await exchanging.session.pendingCode()?.redirectURI == Self.code.redirectURI)
        }
    }
}
