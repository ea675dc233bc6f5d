// SPDX-License-Identifier: Apache-2.0

import BearerdSystem
import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Testing

@Suite struct `A damaged file` {
    private let fixture: StoreFixture
    private let file = "default.session"

    init() throws {
        fixture = try StoreFixture()
    }

    private func keptFiles() -> [String] {
        TemporaryDirectory.entries(of: fixture.directory).filter { $0.hasPrefix("\(file).damaged-") }
    }

    @Test func `is put aside whole and the generation before is used`() async throws {
        let store = try await fixture.openWithTwoGenerations()
        fixture.overwrite(file, Array("{\"version\":1".utf8))

        let previous = try await store.load("default")
        #expect(previous?.generation == 1 && previous?.isDoubted == true)
        let kept = try #require(keptFiles().first)
        #expect(fixture.contents(kept) == Array("{\"version\":1".utf8))
        #expect(
            fixture.reports == [
                DamagedEntry(
                    identity: "default", path: fixture.path(file), keptAs: fixture.path(kept),
                    hasPrevious: true)
            ])
        // And it stays so, in this process and the next.
        #expect(try await store.load("default")?.isDoubted == true)
        #expect(try await fixture.open().load("default")?.generation == 1)
        try await store.save(.sample(generation: 3))
        #expect(try await store.load("default")?.isDoubted == false)
        #expect(fixture.reports.count == 1)
    }

    @Test func `falls back on the last generation that worked, however many came after it`() async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1), keepingPrevious: false)
        for generation in 2...4 {
            try await store.save(.sample(generation: generation), keepingPrevious: false)
        }
        fixture.overwrite(file, [])
        #expect(try await store.load("default")?.generation == 1)
    }

    @Test func `leaves the identity empty if there is no generation before`() async throws {
        let store = try fixture.open()
        try await store.save(.sample(generation: 1))
        fixture.overwrite(file, [])
        #expect(try await store.load("default") == nil)
        #expect(fixture.reports.first?.hasPrevious == false)
        try await store.save(.sample(generation: 2))
        #expect(try await store.load("default")?.generation == 2)
        #expect(keptFiles().count == 1)
    }

    @Test func `leaves the identity empty if the generation before is damaged too`() async throws {
        let store = try await fixture.openWithTwoGenerations()
        fixture.overwrite(file, [0])
        fixture.overwrite("\(file).previous", [0])
        #expect(try await store.load("default") == nil)
        try await store.save(.sample(generation: 3))
        #expect(try await fixture.open().load("default")?.generation == 3)
    }

    @Test func `is noticed wherever it was cut`() async throws {
        let store = try await fixture.openWithTwoGenerations()
        let whole = fixture.contents(file)
        for length in 0..<whole.count {
            fixture.overwrite(file, Array(whole[..<length]))
            let session = try await store.load("default")
            // Without its last line end the text is still whole.
            #expect(session?.generation == (length == whole.count - 1 ? 2 : 1), "cut at \(length)")
        }
    }

    @Test func `never traps, whatever byte is flipped`() async throws {
        let store = try await fixture.openWithTwoGenerations()
        let whole = fixture.contents(file)
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= UInt8(1 << (index % 8))
            fixture.overwrite(file, bytes)
            #expect(try await store.load("default")?.identity == "default")
        }
    }

    @Test(arguments: [
        "", "\0\0\0\0\0\0\0\0", "null", "[]", "{}", "\"text\"", "{\"version\":0}", "<html></html>",
        #"{"version":1,"identity":"other","generation":1,"binding":"b"}"#,
        #"{"version":1,"identity":"default","generation":-1,"binding":"b"}"#,
        #"{"version":1,"identity":"default","generation":1e300,"binding":"b"}"#,
        #"{"version":"1","identity":"default","generation":1,"binding":"b"}"#,
        #"{"version":1,"identity":7,"generation":1,"binding":"b"}"#, String(repeating: "[", count: 100_000),
    ])
    func `is anything that is no session of this identity`(text: String) async throws {
        let store = try fixture.open()
        fixture.overwrite(file, Array(text.utf8))
        #expect(try await store.load("default") == nil)
        #expect(keptFiles().count == 1)
    }

    @Test func `is one that is longer than any session`() async throws {
        let store = try fixture.open()
        fixture.overwrite(file, [UInt8](repeating: 0x20, count: 5 << 20))
        #expect(try await store.load("default") == nil)
        #expect(keptFiles().count == 1)
    }

    @Test func `stays in place while another process holds the lock, which may be replacing it`() async throws
    {
        let store = try await fixture.openWithTwoGenerations()
        fixture.overwrite(file, [])
        let holder = try await fixture.open().lock()
        #expect(try await store.load("default")?.generation == 1)
        #expect(fixture.reports.map(\.keptAs) == [nil])
        #expect(keptFiles().isEmpty)
        await holder.release()
        #expect(try await store.load("default")?.generation == 1)
        #expect(keptFiles().count == 1)
    }

    @Test func `is put aside by the holder of the lock as well`() async throws {
        let store = try fixture.open()
        fixture.overwrite(file, [])
        let holder = try await store.lock()
        #expect(try await store.load("default") == nil)
        #expect(keptFiles().count == 1)
        await holder.release()
    }

    @Test(arguments: ["default.session", "default.session.previous"])
    func `of a later layout is no damage, and is left as it is`(name: String) async throws {
        let store = try fixture.open()
        let later = Array(#"{"version":2,"identity":"default","key":{}}"#.utf8)
        fixture.overwrite(name, later)
        let error = await #expect(throws: StoreError.self) { try await store.load("default") }
        #expect(error?.reason.contains("\(fixture.path(name)) was written by a later version") == true)
        if name == file {
            await #expect(throws: StoreError.self) { try await store.save(.sample(generation: 1)) }
        }
        #expect(fixture.contents(name) == later && fixture.reports.isEmpty)
    }
}
