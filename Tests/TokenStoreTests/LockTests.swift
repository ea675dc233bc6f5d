// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Testing

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
        try await store.withLock(waitingAtMost: .zero)
        let other = try holder()
        let error = await #expect(throws: StoreError.self) {
            try await store.withLock(waitingAtMost: .milliseconds(20))
        }
        #expect(error?.isBusy == true && error?.reason.hasPrefix("process \(other.processID) (") == true)
        try await store.withLock("another identity", waitingAtMost: .zero)

        async let waiting: Void = store.withLock()
        // The store answers while somebody waits for a lock.
        #expect(try await store.load("default") == nil)
        other.signal(SIGKILL)
        try await waiting
    }

    @Test func `excludes another caller, who gets it when it is released`() async throws {
        let store = try fixture.open()
        let first = try await store.lock()
        // The holder may be an identity of before a reload, which is nobody's other process.
        await #expect(throws: StoreError.busy(by: "an earlier request of this process")) {
            try await store.withLock(waitingAtMost: .zero)
        }
        let other = try fixture.open()
        let error = await #expect(throws: StoreError.self) {
            try await other.withLock(waitingAtMost: .zero)
        }
        // Its file says since when.
        #expect(error?.reason.contains("process \(getpid()) (") == true)
        #expect(error?.reason.contains(", since 2") == true)
        async let second: Void = fixture.open().withLock()
        await first.release()
        try await second
    }

    @Test func `is one for many openings of the store`() async throws {
        let fixture = fixture
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    let store = try fixture.open()
                    for _ in 0..<5 {
                        try await store.update { .sample(generation: ($0?.generation ?? 0) + 1) }
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
        let old = try await ours.lock()
        rename(fixture.directory, fixture.directory + ".old")
        #expect(mkdir(fixture.directory, 0o700) == 0)
        // Who has it finishes where it was; nobody else gets it there or here.
        await #expect(throws: StoreError.self) { try await theirs.withLock(waitingAtMost: .zero) }
        try await old.save(
            .sample(generation: 2), over: .sample(generation: 1), keepingPrevious: true)
        #expect(try await theirs.load("default")?.generation == 2)
        await old.release()
        let new = try await theirs.lock()
        #expect(try await theirs.load("default")?.generation == 2)
        try await new.save(
            .sample(generation: 3), over: .sample(generation: 2), keepingPrevious: true)
        await #expect(throws: StoreError.self) { try await ours.withLock(waitingAtMost: .zero) }
        await new.release()
        try await ours.withLock(waitingAtMost: .zero)
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
                await #expect(throws: StoreError.self) { try await store.withLock(waitingAtMost: .zero) }
            }
        }
        let holder = try await ours.lock(waitingAtMost: .seconds(20))
        await #expect(throws: StoreError.self) { try await ours.withLock(waitingAtMost: .zero) }
        #expect(try await ours.load("default") == nil)
        let error = await #expect(throws: StoreError.self) {
            try await holder.save(.sample(generation: 2), over: nil, keepingPrevious: true)
        }
        #expect(error?.reason.contains("is gone: put it back") == true)
        await holder.release()
    }
}
