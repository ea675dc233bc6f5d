// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdRedis
import BearerdTestSupport
import BearerdTokenStore
import OAuth
import Testing

/// What is true of a store in Redis beside what is true of every store.
@Suite(.needs(.redis)) struct `A store in Redis` {
    private let fixture: RedisFixture
    private var server: RedisProcess { fixture.server }

    init() throws {
        fixture = try RedisFixture()
    }

    @Test func `shows Redis no token`() async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        let record = try server("GET", "bearerd:session:default")
        #expect(record.contains("bearerd-sealed") && !record.contains("refresh-1"))
        let keys = try server("KEYS", "*").split(separator: "\n")
        #expect(keys == ["bearerd:session:default"], "lock and mark are gone")
    }

    @Test func `tells other daemons of changes at once, and whoever changed the record without a word`()
        async throws
    {
        let (one, other) = (try fixture.open(), try fixture.open())
        try await one.save(.sample(generation: 1))
        #expect(try await other.generation() == 1)
        var news = other.changes(of: "default").makeAsyncIterator()
        try await one.save(.sample(generation: 2))
        await news.next()
        #expect(try await other.generation() == 2)
        try server("DEL", "bearerd:session:default")
        await news.next()
        #expect(try await other.generation() == nil)
    }

    @Test(arguments: [
        "rubbish", "7\nrubbish", "", "9999999999999999999\nbearerd-sealed 1 aes-256-gcm other\n",
    ])
    func `never takes a record for a session that is none, says so once, and replaces it`(
        record: String
    )
        async throws
    {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        try server("SET", "bearerd:session:default", record)
        if !record.isEmpty, !record.hasPrefix("9999") {
            for _ in 0..<3 { #expect(try await store.generation() == nil) }
            #expect(fixture.events == [.damaged(identity: "default", key: "bearerd:session:default")])
        }
        guard !record.hasPrefix("9999") else {
            // It says that it is sealed with another key.
            await #expect { try await store.generation() } throws: { ($0 as? StoreError)?.isRefused == true }
            return
        }
        try await store.save(.sample(generation: 2))
        #expect(try await store.generation() == 2)
    }

    @Test func `never takes a value of another type, a whole record of another identity or generation`()
        async throws
    {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        let good = try server("GET", "bearerd:session:default")
        try server("SET", "bearerd:session:default", good.replacing("1\n", with: "2\n", maxReplacements: 1))
        #expect(try await store.generation() == nil)
        try server("RENAME", "bearerd:session:default", "bearerd:session:other")
        try server("LPUSH", "bearerd:session:default", "x")
        #expect(try await store.generation() == nil)
        try await store.save(.sample(generation: 3))
        #expect(try await store.generation() == 3)
    }

    @Test func `never takes a record that was copied from under another prefix`() async throws {
        let alice = try fixture.open { $0.keyPrefix = "alice:" }
        let bob = try fixture.open { $0.keyPrefix = "bob:" }
        try await alice.save(.sample(generation: 2))
        try await bob.save(.sample(generation: 1))
        try server("COPY", "alice:session:default", "bob:session:default", "REPLACE")
        #expect(try await bob.generation() == nil)
        #expect(fixture.events == [.damaged(identity: "default", key: "bob:session:default")])
        #expect(try await alice.generation() == 2)
    }

    @Test
    func `reads a record from before they were bound to a prefix, and seals it anew with the next save`()
        async throws
    {
        let old = try #require(EncryptingSealer(key: Secret(String(repeating: "0", count: 64))))
        let session = StoredSession.sample(generation: 1)
        let record = Array("1\n".utf8) + old.seal(session.encoded(), for: "default")
        let digits = record.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        try server(
            "EVAL",
            "return redis.call('SET', KEYS[1], (ARGV[1]:gsub('..', function(h) return string.char(tonumber(h, 16)) end)))",
            "1", "bearerd:session:default", digits)
        let store = try fixture.open()
        #expect(try await store.generation() == 1)
        try server("COPY", "bearerd:session:default", "other:session:default")
        let other = try fixture.open { $0.keyPrefix = "other:" }
        #expect(try await other.generation() == 1)
        try await store.save(.sample(generation: 2))
        try server("COPY", "bearerd:session:default", "other:session:default", "REPLACE")
        #expect(try await other.generation() == nil)
        #expect(try await store.generation() == 2)
    }

    @Test func `leaves alone what is sealed with another key`() async throws {
        try await fixture.open(key: "1").save(.sample(generation: 1))
        let store = try fixture.open()
        await #expect {
            try await store.save(.sample(generation: 2))
        } throws: { error in
            guard case .refused(let reason)? = error as? StoreError else { return false }
            return reason.contains("store.encryption_key") && reason.contains("bearerd:session:default")
        }
        #expect(try await fixture.open(key: "1").generation() == 1)
    }

    @Test func `lets the next one in when a holder stands still, who notices before it sends or writes`()
        async throws
    {
        let (one, other) = (try fixture.open(), try fixture.open())
        try await one.save(.sample(generation: 1))
        let holder = try await one.lock()
        // As if the lock had ended by itself.
        try server("DEL", "bearerd:lock:default")
        let next = try await other.lock()
        try await next.spend(.sample(generation: 1))
        await #expect(throws: StoreError.leaseLost) { try await holder.spend(.sample(generation: 1)) }
        await #expect(throws: StoreError.leaseLost) {
            try await holder.save(
                .sample(generation: 2), over: .sample(generation: 1), keepingPrevious: true)
        }
        await holder.release()
        #expect(try server("EXISTS", "bearerd:lock:default") == "1", "it gives back what is another's")
        await next.release()
        #expect(!next.mayBeSpent)
        #expect(try await other.generation() == 1)
        #expect(try server("EXISTS", "bearerd:spending:default") == "0")
    }

    @Test func `renews a lease for as long as its holder works, and no longer`() async throws {
        let store = try fixture.open { $0.leaseLife = .seconds(1) }
        let other = try fixture.open()
        let holder = try await store.lock()
        let error = await #expect(throws: StoreError.self) {
            try await other.withLock(waitingAtMost: .seconds(2))
        }
        #expect(error?.isBusy == true && error != .busy(by: "an earlier request of this process"))
        await #expect(throws: StoreError.busy(by: "an earlier request of this process")) {
            try await store.withLock(waitingAtMost: .zero)
        }
        try await holder.spend(.sample(generation: 1))
        await holder.release()
        try await other.withLock(waitingAtMost: .zero)
        try server("SET", "bearerd:lock:default", "word process 7 on web-1", "PX", "300")
        await #expect(throws: StoreError.busy(by: "process 7 on web-1")) {
            try await other.withLock(waitingAtMost: .zero)
        }
        try await other.withLock()
    }

    @Test func `says twice at most that the server is away, once that it is back, and goes on by itself`()
        async throws
    {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        var news = store.changes(of: "default").makeAsyncIterator()
        try server.kill()
        for _ in 0..<20 {
            await #expect { try await store.generation() } throws: { ($0 as? StoreError)?.isOutage == true }
        }
        #expect(fixture.events.count == 1)
        try server.start()
        await news.next()
        #expect(try fixture.event("the end of the outage") { $0 == .found } == .found)
        #expect(fixture.events.count == 2)
        #expect(try await store.generation() == nil)
        try await store.save(.sample(generation: 2))
    }

    @Test func `survives a cut in the middle of each command, whichever it is`() async throws {
        let cutter = try CuttingProxy(to: server)
        let store = try fixture.open(at: cutter.path) { $0.commandLimit = .seconds(2) }
        try await store.save(.sample(generation: 1))
        var generation = 1
        for cut in CuttingProxy.Cut.allCases {
            for command in 1...5 {
                cutter.cut(cut, at: command)
                do throws(StoreError) {
                    try await store.save(.sample(generation: generation + 1))
                } catch {
                    #expect(
                        error.isOutage || error == .leaseLost || error.isBusy, "\(cut) \(command): \(error)")
                }
                cutter.cutNothing()
                try eventually("the lock to be free") { try server("EXISTS", "bearerd:lock:default") == "0" }
                let present = try await store.generation() ?? 0
                #expect(present == generation || present == generation + 1, "\(cut) \(command)")
                generation = present
                try await store.save(.sample(generation: generation + 1))
                generation += 1
            }
        }
    }

    @Test func `takes a reply too many for the answer to nothing`() async throws {
        let cutter = try CuttingProxy(to: server)
        let store = try fixture.open(at: cutter.path) { $0.commandLimit = .seconds(2) }
        for generation in 1...10 {
            try await store.save(.sample(generation: generation))
            cutter.sayMore()
            #expect(try await store.generation() == generation)
            #expect(try await store.generation() == generation)
        }
    }
}
