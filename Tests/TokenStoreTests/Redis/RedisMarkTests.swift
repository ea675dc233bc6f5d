// SPDX-License-Identifier: Apache-2.0

import BearerdRedis
import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Testing

/// What a daemon leaves behind that has sent a refresh token, and who waits for it.
@Suite(.needs(.redis)) struct `The mark of a rotation` {
    private let fixture: RedisFixture
    private var server: RedisProcess { fixture.server }
    private let lock = "bearerd:lock:default"
    private let mark = "bearerd:spending:default"

    init() throws {
        fixture = try RedisFixture()
    }

    /// A store whose leases live for so many seconds.
    private func open(lease seconds: Int64) throws -> RedisStore {
        try fixture.open { settings in
            settings.leaseLife = .seconds(seconds)
            settings.commandLimit = .milliseconds(500)
        }
    }

    @Test
    func `is waited for as long as a lease lives, and is found by who spends the refresh token after that`()
        async throws
    {
        let store = try open(lease: 2)
        try await store.save(.sample(generation: 1))
        // As every version writes it.
        try server("SET", mark, "1 word process 7 on web-1")
        let begin = ContinuousClock.now
        await #expect(throws: StoreError.busy(by: "process 7 on web-1")) {
            try await store.withLock(waitingAtMost: .zero)
        }
        let holder = try await store.lock(waitingAtMost: .seconds(10))
        #expect(ContinuousClock.now - begin >= .seconds(2))
        try await holder.spend(.sample(generation: 1))
        #expect(holder.mayBeSpent)
        await holder.release()
        #expect(try server("EXISTS", lock, mark) == "0")
        try await store.withLock(waitingAtMost: .zero)
    }

    @Test(arguments: [
        "1 word process 7 on web-1", "2 ", "2 \u{7F}", "2 nobody", "word process 7 on web-1", "",
    ])
    func `means nothing for a generation that is over, and where it is none`(text: String) async throws {
        let store = try open(lease: 15)
        try await store.save(.sample(generation: 2))
        try server("SET", mark, text)
        try await store.withLock(waitingAtMost: .zero)
        // Somebody has put an older session back; who knows the newer one knows what came of that token.
        let newer = try server("GET", "bearerd:session:default")
        try server("SET", "bearerd:session:default", newer.replacing("2\n", with: "1\n", maxReplacements: 1))
        try await store.withLock(waitingAtMost: .zero)
    }

    @Test func `is told to whoever has the lock after that, also where the record was put back`() async throws
    {
        let store = try open(lease: 2)
        var second = StoredSession.sample(generation: 1)
        try await store.save(second)
        let older = try server("GET", "bearerd:session:default")
        second.generation = 2
        try await store.save(second)
        // A failover: the record before, of the same refresh token, and a mark that says something of it.
        try server("SET", "bearerd:session:default", older)
        try server("SET", mark, "1 word process 7 on web-1")
        await #expect(throws: StoreError.busy(by: "process 7 on web-1")) {
            try await store.withLock(waitingAtMost: .zero)
        }
        let holder = try await store.lock(waitingAtMost: .seconds(10))
        #expect(await holder.wasLeftSpent(.sample(generation: 1)))
        #expect(await !holder.wasLeftSpent(.sample(generation: 2)))
        await holder.release()
    }

    @Test func `never falls while its owner has the lock, also where an older record was put back`()
        async throws
    {
        let store = try open(lease: 15)
        try await store.save(.sample(generation: 2))
        let holder = try await store.lock(waitingAtMost: .zero)
        try await holder.spend(.sample(generation: 2))
        let first = try server("GET", mark)
        try await holder.spend(.sample(generation: 1))
        #expect(try server("GET", mark) == first && first.hasPrefix("2 "))
        await holder.release()
    }

    @Test func `is a sign of its owner: the lock lives for a whole lease after it`() async throws {
        let store = try open(lease: 15)
        let holder = try await store.lock(waitingAtMost: .zero)
        try server("PEXPIRE", lock, "5000")
        try await holder.spend(.sample(generation: 1))
        #expect(Int(try server("PTTL", lock)).map { $0 > 5000 } == true)
        await holder.release()
    }

    @Test func `is waited for while its owner, who had lost the lock, shows that it lives`() async throws {
        let (one, other) = (try open(lease: 1), try open(lease: 1))
        try await one.save(.sample(generation: 1))
        let holder = try await one.lock()
        try await holder.spend(.sample(generation: 1))
        for loss in [["DEL", lock], ["DEL", lock, mark], ["FLUSHALL"]] {
            try server.perform(loss)
            try eventually("a sign of the holder") {
                try server("EXISTS", lock, mark, "bearerd:session:default") == "3"
            }
        }
        let error = await #expect(throws: StoreError.self) {
            try await other.withLock(waitingAtMost: .seconds(3))
        }
        #expect(error?.isBusy == true)
        try await holder.save(
            .sample(generation: 2), over: .sample(generation: 1), keepingPrevious: true)
        await holder.release()
        try await other.withLock(waitingAtMost: .seconds(3))
        #expect(try await other.generation() == 2)
    }

    @Test(arguments: [("1 other process 9 on web-2", nil), ("", "2\nof another's")])
    func `of another, or a newer session, ends the right of who stood still, and nothing is written`(
        others: String, record: String?
    ) async throws {
        let store = try open(lease: 15)
        try await store.save(.sample(generation: 1))
        let holder = try await store.lock()
        try await holder.spend(.sample(generation: 1))
        let session = "bearerd:session:default"
        let before = try server("GET", session)
        // In one step, so that the holder does not find the lock free in between.
        try server(
            "EVAL",
            """
            redis.call('DEL', KEYS[1]) redis.call('SET', KEYS[2], ARGV[1])
            if ARGV[2] ~= '' then redis.call('SET', KEYS[3], ARGV[2]) end
            """,
            "3", lock, mark, session, others, record ?? "")
        await #expect(throws: StoreError.leaseLost) {
            try await holder.save(
                .sample(generation: 2), over: .sample(generation: 1), keepingPrevious: true)
        }
        await #expect(throws: StoreError.leaseLost) { try await holder.spend(.sample(generation: 1)) }
        await holder.release()
        #expect(try server("GET", mark) == others)
        #expect(try server("GET", session) == record ?? before)
    }

    @Test(arguments: [true, false])
    func `may be lacking in a copy of before, whichever identity is asked for first`(
        isWatched: Bool
    ) async throws {
        try await open(lease: 15).save(.sample(generation: 1))
        let store = try fixture.open { if !isWatched { $0.identities = ["default", "other"] } }
        // A command watches nothing.
        let changes = isWatched ? ["default", "other"].map { store.changes(of: $0) } : []
        for identity in ["other", "default"] {
            _ = try await store.load(identity)
            #expect(await store.settlement(of: identity) != nil, "\(identity)")
        }
        withExtendedLifetime(changes) {}
    }

    @Test func `outlives refused writes, and the time in which nobody can write does not count`() async throws
    {
        let (one, other) = (try open(lease: 2), try open(lease: 2))
        try await one.save(.sample(generation: 1))
        let holder = try await one.lock()
        try await holder.spend(.sample(generation: 1))
        try server("CONFIG", "SET", "min-replicas-to-write", "1")
        await #expect(throws: StoreError.self) {
            try await holder.save(
                .sample(generation: 2), over: .sample(generation: 1), keepingPrevious: true)
        }
        // Longer than the lease, and asked for all the time.
        let end = ContinuousClock.now + .seconds(4)
        while ContinuousClock.now < end {
            let error = await #expect(throws: StoreError.self) {
                try await other.withLock(waitingAtMost: .milliseconds(100))
            }
            #expect(error?.isBusy == true || error?.reason.contains("NOREPLICAS") == true)
        }
        #expect(try server("EXISTS", lock) == "0", "it has ended")
        try server("CONFIG", "SET", "min-replicas-to-write", "0")
        let waiting = Task { try await other.withLock(waitingAtMost: .seconds(20)) }
        try eventually("the lock in the holder's hand again") {
            try server("GET", lock).contains("process")
        }
        try await holder.save(
            .sample(generation: 2), over: .sample(generation: 1), keepingPrevious: true)
        await holder.release()
        try await waiting.value
        #expect(try await other.generation() == 2)
    }

    @Test func `and a lock that a server takes for late ones when it wakes are given back`() async throws {
        let store = try open(lease: 6)
        try await store.save(.sample(generation: 1))
        let holder = try await store.lock()
        server.signal(SIGSTOP)
        await #expect(throws: StoreError.self) { try await holder.spend(.sample(generation: 1)) }
        await holder.release()
        // The command is in the server's hands, and is done when it wakes, after the lease has ended.
        try? Gate().pass(within: .seconds(7))
        server.signal(SIGCONT)
        try eventually("an answer") { try server("PING") == "PONG" }
        try eventually("both to be given back") { try server("EXISTS", lock, mark) == "0" }
        let monitor = try server.monitor()
        server.signal(SIGSTOP)
        await #expect(throws: StoreError.self) { try await store.withLock(waitingAtMost: .zero) }
        try? Gate().pass(within: .seconds(7))
        server.signal(SIGCONT)
        // An end by itself would be none.
        try monitor.output.wait(for: "the ghost to be given back") {
            $0.text.contains("lua] \"DEL\" \"\(lock)\"") ? () : nil
        }
    }
}
