// SPDX-License-Identifier: Apache-2.0

import Cryptography
import OAuth
import Testing
import TokenStore

/// What every store promises to the sessions that share it; a new one is one more case of ``Kind``.
@Suite struct `A store of any kind` {
    enum Kind: CaseIterable {
        case memory
        case files
        case encryptedFiles

        func makeStore(in fixture: StoreFixture) throws -> any SessionStore {
            switch self {
            case .memory: MemoryStore(on: fixture.thread)
            case .files: try fixture.open()
            case .encryptedFiles:
                try fixture.open(
                    sealer: #require(EncryptingSealer(key: Secret(String(repeating: "0", count: 64)))))
            }
        }
    }

    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(arguments: Kind.allCases)
    func `makes read, change and write one step`(of kind: Kind) async throws {
        let store = try kind.makeStore(in: fixture)
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5 {
                        try await store.update { .sample(generation: ($0?.generation ?? 0) + 1) }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await store.load("default")?.generation == 40)
    }

    @Test(arguments: Kind.allCases)
    func `keeps one identity at a time, and tells who waits too long`(of kind: Kind) async throws {
        let store = try kind.makeStore(in: fixture)
        let holder = try await LockHolder(of: store)
        let error = await #expect(throws: StoreError.self) {
            try await store.withLock(waitingAtMost: .milliseconds(10)) { _ in
                Issue.record("the lock is somebody else's")
            }
        }
        #expect(error?.isBusy == true)
        try await store.withLock("other", waitingAtMost: .zero)
        async let next: Void = store.withLock()
        #expect(try await store.load("default") == nil, "reading needs no lock")
        await holder.release()
        try await next
    }

    @Test(arguments: Kind.allCases)
    func `lets others in after a failure under the lock too`(of kind: Kind) async throws {
        let store = try kind.makeStore(in: fixture)
        try await store.save(.sample(generation: 2))
        await #expect(throws: StoreError.outdated) { try await store.save(.sample(generation: 1)) }
        try await store.withLock(waitingAtMost: .zero)
    }

    @Test(arguments: Kind.allCases)
    func `replaces only what the holder has read, by what is newer`(of kind: Kind) async throws {
        let store = try kind.makeStore(in: fixture)
        let holder = try await LockHolder(of: store)
        func save(_ generation: Int, over read: Int?) async throws {
            try await holder.lease.save(
                .sample(generation: generation), over: read.map { .sample(generation: $0) },
                keepingPrevious: true)
        }
        try await save(3, over: nil)
        for (generation, read) in [(4, nil), (4, 2), (3, 3), (2, 3)] as [(Int, Int?)] {
            await #expect(throws: StoreError.outdated) { try await save(generation, over: read) }
            #expect(try await store.load("default")?.refreshText == "refresh-3")
        }
        try await save(4, over: 3)
        // An older copy that somebody put back does not stand in the way of who knows better.
        try await save(7, over: 6)
        await holder.release()
        #expect(try await store.load("default")?.generation == 7)
    }

    @Test(arguments: Kind.allCases)
    func `takes nothing by a lease that has ended`(of kind: Kind) async throws {
        let store = try kind.makeStore(in: fixture)
        let late = try await store.withLock { $0 }
        for isHeldByOthers in [false, true] {
            let holder = isHeldByOthers ? try await LockHolder(of: store) : nil
            await #expect(throws: StoreError.leaseLost) {
                try await late.save(.sample(generation: 1), over: nil, keepingPrevious: true)
            }
            await #expect(throws: StoreError.leaseLost) { try await late.spend(.sample(generation: 1)) }
            await holder?.release()
        }
        #expect(try await store.load("default") == nil)
        try await store.withLock { lease in
            await #expect(throws: Never.self) { try await lease.spend(.sample(generation: 1)) }
        }
    }

    @Test(arguments: Kind.allCases)
    func `forgets a waiter that is cancelled`(of kind: Kind) async throws {
        let store = try kind.makeStore(in: fixture)
        let holder = try await LockHolder(of: store)
        let waiter = Task {
            try await store.withLock(waitingAtMost: .seconds(600)) { _ in
                Issue.record("nobody wants it any more")
            }
        }
        waiter.cancel()
        let error = await #expect(throws: StoreError.self) { try await waiter.value }
        #expect(error?.isBusy == true)
        await holder.release()
        try await store.withLock(waitingAtMost: .zero)
        try await store.save(.sample(generation: 1))
        #expect(try await store.load("default")?.generation == 1)
    }

    @Test func `in memory is changed by nobody else`() async throws {
        for await _ in MemoryStore(on: fixture.thread).changes(of: "default") {
            Issue.record("nobody else can have changed it")
        }
    }
}
