// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Testing

@Suite struct `A file store` {
    private let fixture: StoreFixture

    init() throws {
        umask(0o022)
        fixture = try StoreFixture()
    }

    @Test func `gives back what another opening of it saved`() async throws {
        try await fixture.open().save(.sample(generation: 7))
        let session = try #require(await fixture.open().load("default"))
        #expect(session.generation == 7)
        #expect(session.refreshText == "refresh-7")
        #expect(session.scope == ["openid", "profile"])
        #expect(session.lastRefresh == WallTime(secondsSinceEpoch: 1_800_000_000))
        #expect(try await fixture.open().load("other") == nil)
    }

    @Test func `keeps its files 0600 in a directory 0700`() async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        try await store.save(.sample(generation: 2))
        #expect(TemporaryDirectory.mode(of: fixture.directory) == 0o700)
        let names = TemporaryDirectory.entries(of: fixture.directory)
        #expect(names == ["default.session", "default.session.lock", "default.session.previous"])
        for name in names { #expect(TemporaryDirectory.mode(of: fixture.path(name)) == 0o600) }
    }

    @Test(arguments: [
        "../../etc/passwd", "a/b", ".", "", "\0", "é", "a.session", "%2E", String(repeating: "n", count: 300),
    ])
    func `makes a safe file name of any identity`(identity: String) async throws {
        let store = try fixture.open()
        try await store.save(.sample(identity, generation: 3))
        try await store.save(.sample("other", generation: 4))
        #expect(try await store.load(identity)?.generation == 3)
        #expect(TemporaryDirectory.entries(of: fixture.directory).count == 4)
        #expect(TemporaryDirectory.entries(of: fixture.parent.path) == ["store"])
    }

    @Test func `uses a directory of its own inside one that others may read`() async throws {
        #expect(mkdir(fixture.directory, 0o755) == 0)
        let store = try fixture.open()
        #expect(store.directory == fixture.path("bearerd"))
        try await store.save(.sample(generation: 1))
        #expect(TemporaryDirectory.mode(of: fixture.path("bearerd")) == 0o700)
        #expect(TemporaryDirectory.mode(of: fixture.directory) == 0o755)
        #expect(try await fixture.open().load("default")?.generation == 1)
    }

    /// Saves a session without tokens where no new file can be made, as on a full disk.
    private func end(_ store: FileStore, scope: [String]) async throws {
        #expect(mkdir(fixture.path("default.session.new"), 0o700) == 0)
        var ended = StoredSession.sample(generation: 3)
        (ended.refreshToken, ended.scope) = (nil, scope)
        try await store.save(ended)
    }

    @Test func `writes the end of a session over its file where there is no room for another`() async throws {
        let store = try await fixture.openWithTwoGenerations()
        let size = fixture.contents("default.session").count
        try await end(store, scope: [])
        let stored = try #require(await store.load("default"))
        #expect(stored.generation == 3 && !stored.holdsTokens)
        #expect(fixture.contents("default.session").count == size)
        #expect(!TemporaryDirectory.entries(of: fixture.directory).contains("default.session.previous"))
    }

    @Test func `leaves a file alone that is too short for the end of its session`() async throws {
        let store = try await fixture.openWithTwoGenerations()
        let names = ["default.session", "default.session.previous"]
        let before = names.map(fixture.contents)
        await #expect(throws: StoreError.self) { try await end(store, scope: names + names) }
        #expect(names.map(fixture.contents) == before)
    }

    @Test func `leaves a file alone that holds no token where there is no room for another`() async throws {
        let store = try fixture.open()
        var ended = StoredSession.sample(generation: 2)
        ended.refreshToken = nil
        try await store.save(ended)
        let before = fixture.contents("default.session")
        await #expect(throws: StoreError.self) { try await end(store, scope: []) }
        #expect(fixture.contents("default.session") == before)
    }

    /// What Kubernetes makes of a volume with `fsGroup`: the directory inside inherits set-group-ID.
    @Test func `uses a directory inside one that is a group's`() async throws {
        #expect(mkdir(fixture.directory, 0o755) == 0 && chmod(fixture.directory, 0o2777) == 0)
        try await fixture.open().save(.sample(generation: 1))
        #expect(TemporaryDirectory.mode(of: fixture.path("bearerd")) == 0o2700)
        #expect(try await fixture.open().load("default")?.generation == 1)
    }

    @Test func `refuses a directory of its own with another mode`() throws {
        #expect(mkdir(fixture.directory, 0o755) == 0)
        #expect(mkdir(fixture.path("bearerd"), 0o750) == 0)
        #expect(
            throws: FileStoreError.insecure(
                path: fixture.path("bearerd"), problem: "has mode 0750, must be 0700: chmod 700")
        ) { try fixture.open() }
    }

    @Test func `refuses a link in place of a directory of its own`() throws {
        #expect(mkdir(fixture.directory, 0o755) == 0)
        #expect(symlink(fixture.parent.path, fixture.path("bearerd")) == 0)
        #expect(
            throws: FileStoreError.insecure(path: fixture.path("bearerd"), problem: "is not a directory")
        ) { try fixture.open() }
    }

    @Test(arguments: [0o640, 0o604, 0o644, 0o700, 0o400] as [mode_t])
    func `refuses a file with another mode, at once and later`(mode: mode_t) async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        chmod(fixture.path("default.session"), mode)
        #expect(throws: FileStoreError.self) { try fixture.open() }
        await #expect(throws: StoreError.self) { try await store.load("default") }
    }

    @Test(.needs(.root)) func `refuses what belongs to somebody else`() async throws {
        try await fixture.open().save(.sample(generation: 1))
        chown(fixture.path("default.session"), 12345, 0)
        #expect(throws: FileStoreError.self) { try fixture.open() }
        chown(fixture.path("default.session"), 0, 0)
        chown(fixture.directory, 12345, 0)
        // A directory that is not ours gets one of ours inside.
        #expect(try fixture.open().directory == fixture.path("bearerd"))
    }

    @Test func `leaves files alone that are none of its`() throws {
        #expect(mkdir(fixture.directory, 0o700) == 0)
        fixture.overwrite("notes.txt", [])
        chmod(fixture.path("notes.txt"), 0o666)
        _ = try fixture.open()
        #expect(TemporaryDirectory.mode(of: fixture.path("notes.txt")) == 0o666)
    }

    @Test func `says which path cannot be used`() throws {
        let file = try fixture.parent.write("file", "")
        let error = #expect(throws: FileStoreError.self) { try fixture.open(at: file + "/store") }
        #expect(error.map { "\($0)" } == "mkdir \(file)/store: Not a directory")
    }

    @Test func `tells of a change that another process made, and not of its own`() async throws {
        let ours = try fixture.open()
        let theirs = try fixture.open()
        var changes = ours.changes(of: "default").makeAsyncIterator()
        try await ours.save(.sample(generation: 1))
        try await theirs.save(.sample(generation: 2))
        #expect(await changes.next() != nil)
        #expect(try await ours.load("default")?.generation == 2)
        try await ours.save(.sample(generation: 3))
        try await theirs.save(.sample(generation: 4))
        #expect(await changes.next() != nil)
        #expect(try await ours.load("default")?.generation == 4)
    }
}
