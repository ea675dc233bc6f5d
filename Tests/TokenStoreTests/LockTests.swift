// SPDX-License-Identifier: Apache-2.0

import Glibc
import OAuth
import System
import TestSupport
import Testing
import TokenStore

@Suite struct `The lock of an identity` {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    /// Another process that holds the lock until it is killed.
    private func holder() throws -> Subprocess {
        let process = try Subprocess([
            "/usr/bin/flock", "--no-fork", fixture.path("default.session.lock"), "/bin/sh", "-c",
            "echo held; exec sleep 60",
        ])
        try process.output.wait(for: "the lock to be held") { $0.text.contains("held") ? () : nil }
        return process
    }

    @Test func `excludes another process until that dies`() async throws {
        let store = try fixture.open()
        try await store.lock("default", waitingAtMost: .zero).release()
        let other = try holder()
        let error = await #expect(throws: StoreError.self) {
            try await store.lock("default", waitingAtMost: .milliseconds(20))
        }
        #expect(error?.isBusy == true && error?.reason.hasPrefix("process \(other.processID) (") == true)
        try await store.lock("another identity", waitingAtMost: .zero).release()

        async let waiting = store.lock("default", waitingAtMost: .seconds(20))
        // The store answers while somebody waits for a lock.
        #expect(try await store.load("default") == nil)
        other.signal(SIGKILL)
        try await waiting.release()
    }

    @Test func `excludes another caller, who gets it when it is released`() async throws {
        let store = try fixture.open()
        let first = try await store.lock("default", waitingAtMost: .zero)
        let error = await #expect(throws: StoreError.self) {
            try await store.lock("default", waitingAtMost: .zero)
        }
        // Its file says since when.
        #expect(error?.reason.contains("process \(getpid()) (") == true)
        #expect(error?.reason.contains(", since 2") == true)
        async let second = fixture.open().lock("default", waitingAtMost: .seconds(20))
        await first.release()
        await first.release()
        try await second.release()
    }

    @Test func `is let go by a holder who forgets to`() async throws {
        let store = try fixture.open()
        _ = try await store.lock("default", waitingAtMost: .zero)
        try await store.lock("default", waitingAtMost: .seconds(1)).release()
    }

    @Test func `is not needed again to save by who holds it, and taken by who does not`() async throws {
        let store = try fixture.open()
        let lock = try await store.lock("default", waitingAtMost: .zero)
        try await store.save(.sample(generation: 1))
        let other = try fixture.open()
        async let saved: Void = other.save(.sample(generation: 2))
        #expect(try await store.load("default")?.generation == 1)
        await lock.release()
        try await saved
        #expect(try await store.load("default")?.generation == 2)
    }

    @Test func `makes read, change and write one step for many openings of the store`() async throws {
        let fixture = fixture
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let store = try fixture.open()
                    for _ in 0..<5 {
                        let lock = try await store.lock("default", waitingAtMost: .seconds(20))
                        let generation = try await store.load("default")?.generation ?? 0
                        try await store.save(.sample(generation: generation + 1))
                        await lock.release()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await fixture.open().load("default")?.generation == 40)
    }

    @Test func `is one for all while the directory is being replaced`() async throws {
        let (ours, theirs) = (try fixture.open(), try fixture.open())
        try await ours.save(.sample(generation: 1))
        let old = try await ours.lock("default", waitingAtMost: .zero)
        rename(fixture.directory, fixture.directory + ".old")
        #expect(mkdir(fixture.directory, 0o700) == 0)
        // Who has it finishes where it was; nobody else gets it there or here.
        await #expect(throws: StoreError.self) { try await theirs.lock("default", waitingAtMost: .zero) }
        try await ours.save(.sample(generation: 2))
        #expect(try await theirs.load("default")?.generation == 2)
        await old.release()
        let new = try await theirs.lock("default", waitingAtMost: .zero)
        #expect(try await theirs.load("default")?.generation == 2)
        try await theirs.save(.sample(generation: 3))
        await #expect(throws: StoreError.self) { try await ours.lock("default", waitingAtMost: .zero) }
        await new.release()
        try await ours.lock("default", waitingAtMost: .zero).release()
        #expect(try await ours.load("default")?.generation == 3)
        #expect(try await fixture.open().load("default")?.generation == 3)
        #expect(await ours.misplacement(of: "default") == nil)
    }

    @Test func `of a directory that is removed is had by nobody but the only one who uses it`() async throws {
        let ours = try fixture.open()
        do {
            let theirs = try fixture.open()
            try await theirs.save(.sample(generation: 1))
            _ = try Subprocess.run(["/bin/rm", "-rf", fixture.directory])
            for store in [ours, theirs] {
                await #expect(throws: StoreError.self) {
                    try await store.lock("default", waitingAtMost: .zero)
                }
            }
        }
        let lock = try await ours.lock("default", waitingAtMost: .seconds(20))
        await #expect(throws: StoreError.self) { try await ours.lock("default", waitingAtMost: .zero) }
        #expect(try await ours.load("default") == nil)
        let error = await #expect(throws: StoreError.self) { try await ours.save(.sample(generation: 2)) }
        #expect(error?.reason.contains("is gone: put it back") == true)
        await lock.release()
    }

    @Test func `works in memory as well`() async throws {
        let store = MemoryStore(on: fixture.thread)
        store.save(.sample(generation: 1), keepingPrevious: true)
        #expect(store.load("default")?.generation == 1)
        let first = try await store.lock("default", waitingAtMost: .zero)
        await #expect(throws: StoreError.busy(by: nil)) {
            try await store.lock("default", waitingAtMost: .milliseconds(10))
        }
        try await store.lock("other", waitingAtMost: .zero).release()
        async let second = store.lock("default", waitingAtMost: .seconds(20))
        await first.release()
        try await second.release()
        store.remove("default")
        #expect(store.load("default") == nil)
        for await _ in store.changes(of: "default") { Issue.record("nobody else can have changed it") }
    }
}
