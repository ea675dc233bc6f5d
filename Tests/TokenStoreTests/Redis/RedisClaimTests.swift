// SPDX-License-Identifier: Apache-2.0

import BearerdRedis
import BearerdTestSupport
import BearerdTokenStore
import OAuth
import Testing

/// A person who wants the lock of somebody who only waits for the provider.
@Suite(.needs(.redis)) struct `A claim on a lock in Redis` {
    private let fixture: RedisFixture
    private var server: RedisProcess { fixture.server }
    private let key = "bearerd:claim:default"

    init() throws {
        fixture = try RedisFixture()
    }

    @Test func `is seen by the holder while its owner waits, and gone when that has the lock`() async throws {
        let (one, other) = (try fixture.open(), try fixture.open())
        let holder = try await one.lock(waitingAtMost: .zero)
        #expect(try await !holder.isClaimed())
        let claim = await other.claim("default")
        #expect(claim != nil)
        try server("DEL", key)
        await #expect(throws: StoreError.self) { try await other.withLock(waitingAtMost: .zero) }
        #expect(try await holder.isClaimed(), "each try to get the lock says it anew")
        #expect(Int(try server("PTTL", key)).map { 1...3000 ~= $0 } == true, "and it ends by itself")
        await holder.release()
        let next = try await other.lock(waitingAtMost: .zero)
        #expect(try server("EXISTS", key) == "0")
        await next.release()
        withExtendedLifetime(claim) {}
    }

    @Test func `of somebody else is left alone`() async throws {
        let store = try fixture.open()
        let claim = await store.claim("default")
        try server("SET", key, "somebody else")
        let holder = try await store.lock(waitingAtMost: .zero)
        #expect(try await holder.isClaimed())
        await holder.release()
        withExtendedLifetime(claim) {}
    }

    @Test func `is not said any more when nobody has it`() async throws {
        let (one, other) = (try fixture.open(), try fixture.open())
        let holder = try await one.lock(waitingAtMost: .zero)
        _ = await other.claim("default")
        try server("DEL", key)
        await #expect(throws: StoreError.self) { try await other.withLock(waitingAtMost: .zero) }
        #expect(try await !holder.isClaimed())
        await holder.release()
    }

    @Test(arguments: [("min-replicas-to-write", "1", "0"), ("maxmemory", "1", "0")])
    func `may be there unheard while Redis takes no writes`(
        setting: String, value: String, usual: String
    )
        async throws
    {
        let (one, other) = (try fixture.open(), try fixture.open())
        let holder = try await one.lock(waitingAtMost: .zero)
        let claim = await other.claim("default")
        try server("PERSIST", key)
        try server("CONFIG", "SET", setting, value)
        await #expect(throws: StoreError.self) { try await holder.isClaimed() }
        #expect(await other.claim("default") == nil)
        try server("CONFIG", "SET", setting, usual)
        #expect(try await holder.isClaimed())
        await holder.release()
        withExtendedLifetime(claim) {}
    }

    @Test func `is not needed for the lock where its key is not allowed`() async throws {
        let store = try fixture.open()
        try server(
            "ACL", "SETUSER", "default", "resetkeys", "~bearerd:session:*", "~bearerd:lock:*",
            "~bearerd:spending:*")
        #expect(await store.claim("default") == nil)
        try await store.withLock(waitingAtMost: .zero)
        let holder = try await store.lock(waitingAtMost: .zero)
        #expect(try await !holder.isClaimed())
        await holder.release()
    }
}
