// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Testing

/// What a store remembers of a refresh token that was sent.
@Suite struct `A refresh token that may be spent` {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    private func spend(
        _ store: any SessionStore, _ generation: Int, leaving: Bool = false
    ) async throws -> Bool {
        let holder = try await store.lock(waitingAtMost: .seconds(5))
        try await holder.spend(.sample(generation: generation))
        let mayBeSpent = holder.mayBeSpent
        if leaving { holder.leaveSpent() }
        await holder.release()
        return mayBeSpent
    }

    private func stores() throws -> [any SessionStore] {
        let redis: [any SessionStore] = RedisProcess.program == nil ? [] : [try fixture.openRedis()]
        return [MemoryStore(on: fixture.thread), try fixture.open()] + redis
    }

    @Test func `is one that nobody knows the answer to, of this generation`() async throws {
        for store in try stores() {
            #expect(try await !spend(store, 1))
            #expect(try await !spend(store, 1, leaving: true), "it was answered")
            // Who has the lock for something else takes nothing back.
            try await store.withLock()
            #expect(try await spend(store, 1, leaving: true))
            #expect(try await !spend(store, 2), "another one")
            #expect(try await !spend(store, 2))
        }
    }

    @Test func `says nothing of the one that has taken its place under the same lock`() async throws {
        for store in try stores() {
            #expect(try await !spend(store, 1, leaving: true))
            let holder = try await store.lock(waitingAtMost: .seconds(5))
            try await holder.spend(.sample(generation: 1))
            #expect(holder.mayBeSpent)
            try await holder.spend(.sample(generation: 2))
            #expect(!holder.mayBeSpent)
            await holder.release()
        }
    }

    @Test func `is known to who has the lock for something else, so that it is not forgotten`() async throws {
        for store in try stores() {
            #expect(try await !spend(store, 3, leaving: true))
            let holder = try await store.lock(waitingAtMost: .seconds(5))
            #expect(await holder.wasLeftSpent(.sample(generation: 3)))
            #expect(await !holder.wasLeftSpent(.sample(generation: 4)), "another one")
            await holder.release()
            #expect(try await spend(store, 3))
            let next = try await store.lock(waitingAtMost: .seconds(5))
            #expect(await !next.wasLeftSpent(.sample(generation: 3)))
            await next.release()
        }
    }

    @Test func `is one that a process has sent which was killed`() async throws {
        let store = try fixture.open()
        let holder = try await store.lock()
        try await holder.spend(.sample(generation: 7))
        let left = TemporaryDirectory.contents(of: fixture.path("default.session.lock"))
        #expect(String(decoding: left, as: UTF8.self).hasSuffix(" 7\n"))
        await holder.release()
        // As a process leaves it that has no time for anything.
        let script = "printf '1 1 7\\nrest of a longer line\\n' > \(fixture.path("default.session.lock"))"
        #expect(try Subprocess.run(["/bin/sh", "-c", script]).ending == .exited(0))
        #expect(try await spend(store, 7))
        #expect(try await !spend(store, 7))
    }

    /// A full disk takes the name of a file, and nothing of what is to be in it.
    @Test func `is any that is stored where a process could note nothing in its lock file`() async throws {
        let store = try fixture.open()
        #expect(try await !spend(store, 3), "the file is new")
        fixture.overwrite("default.session.lock", [])
        // Who has the lock for something else takes nothing back.
        try await store.withLock()
        let holder = try await store.lock(waitingAtMost: .seconds(5))
        #expect(await holder.wasLeftSpent(.sample(generation: 3)))
        await holder.release()
        #expect(try await spend(store, 3))
        #expect(try await !spend(store, 3))
    }

    @Test func `is none of a session that is stored after a process could note nothing`() async throws {
        let store = try fixture.open()
        try await store.withLock()
        fixture.overwrite("default.session.lock", [])
        let holder = try await store.lock(waitingAtMost: .seconds(5))
        #expect(await holder.wasLeftSpent(.sample(generation: 1)), "nobody knows of which")
        try await holder.save(.sample(generation: 1), over: nil, keepingPrevious: true)
        #expect(await !holder.wasLeftSpent(.sample(generation: 1)))
        await holder.release()
        #expect(try await !spend(store, 1))
    }

    @Test func `is let go by who hears that a person wants the lock`() async throws {
        let (store, other) = (try fixture.open(), try fixture.open())
        let holder = try await store.lock()
        #expect(try await !holder.isClaimed())
        var claim = await other.claim("default")
        #expect(claim != nil)
        #expect(try await holder.isClaimed())
        claim = nil
        #expect(try await !holder.isClaimed())
        await holder.release()
    }
}
