// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Testing

@Suite struct `A crash or a full disk` {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
    }

    @Test(arguments: FileReplacement.Step.allCases)
    func `leaves the old session or the new after any step of a change`(
        last: FileReplacement.Step
    ) async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        let path = fixture.path("default.session")
        var replacement = FileReplacement(
            of: FilePlace(path), with: StoredSession.sample(generation: 2).encoded(),
            keepingPreviousAs: FilePlace(path + ".previous"))
        for step in FileReplacement.Step.allCases {
            try replacement.take(step)
            if step == last { break }
        }
        let restarted = try fixture.open()
        let isPublished = last == .publish || last == .synchronizeDirectory
        #expect(try await restarted.load("default")?.generation == (isPublished ? 2 : 1))
        try await restarted.save(.sample(generation: 3))
        #expect(try await restarted.load("default")?.generation == 3)
        #expect(fixture.reports.isEmpty)
        #expect(!TemporaryDirectory.entries(of: fixture.directory).contains { $0.hasSuffix(".new") })
    }

    @Test(arguments: [FileReplacement.Step.write, .synchronize, .keepPrevious])
    func `leaves a session that was written whole to whoever has the lock next`(
        last: FileReplacement.Step
    ) async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        try await store.save(.sample(generation: 2))
        func leave(_ session: StoredSession) throws {
            var replacement = FileReplacement(
                of: FilePlace(fixture.path("default.session")), with: session.encoded(),
                keepingPreviousAs: FilePlace(fixture.path("default.session.previous")))
            for step in FileReplacement.Step.allCases.prefix(while: { $0 != .publish }) {
                try replacement.take(step)
                if step == last { break }
            }
        }
        func loadLocked() async throws -> Int? {
            let restarted = try fixture.open()
            return try await restarted.withLock { _ in try? await restarted.load("default")?.generation }
        }
        for old in [StoredSession.sample(generation: 1), .sample(generation: 2)] {
            try leave(old)
            #expect(try await loadLocked() == 2, "it is no newer")
        }
        try leave(.sample("other", generation: 3))
        #expect(try await loadLocked() == 2, "it is another identity's")
        try leave(.sample(generation: 3))
        #expect(try await fixture.open().load("default")?.generation == 2, "somebody may be writing it")
        #expect(try await loadLocked() == 3)
        #expect(try await fixture.open().load("default")?.generation == 3)
        #expect(!TemporaryDirectory.entries(of: fixture.directory).contains { $0.hasSuffix(".new") })
        #expect(fixture.reports.isEmpty)
    }

    @Test func `half-way through the writing harms nothing`() async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        let bytes = StoredSession.sample(generation: 2).encoded()
        for length in stride(from: 0, to: bytes.count, by: 7) {
            fixture.overwrite("default.session.new", Array(bytes[..<length]))
            #expect(try await fixture.open().load("default")?.generation == 1)
        }
        try await store.save(.sample(generation: 3))
        #expect(try await fixture.open().load("default")?.generation == 3)
    }

    @Test func `without space throws, keeps the old session, and saves once there is space again`()
        async throws
    {
        let disk = fixture.parent.path("disk")
        mkdir(disk, 0o700)
        let isMounted =
            try Subprocess.run(["/usr/bin/mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", disk])
            .ending
            == .exited(0)
        guard isMounted else { return }
        defer { _ = try? Subprocess.run(["/usr/bin/umount", "-l", disk]) }

        let store = try fixture.open(at: disk)
        #expect(store.directory == disk)
        try await store.save(.sample(generation: 1))
        let filler = disk + "/filler"
        let descriptor = Glibc.open(filler, O_WRONLY | O_CREAT, 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while Glibc.write(descriptor, block, block.count) > 0 {}
        close(descriptor)

        let error = await #expect(throws: StoreError.self) {
            try await store.save(.sample(generation: 2, padding: 20_000))
        }
        #expect(error == .unavailable("write \(disk)/default.session.new: No space left on device"))
        #expect(try await fixture.open(at: disk).load("default")?.generation == 1)

        unlink(filler)
        try await store.save(.sample(generation: 2, padding: 20_000))
        #expect(try await fixture.open(at: disk).load("default")?.generation == 2)
    }
}
