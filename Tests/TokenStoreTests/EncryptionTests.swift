// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdSystem
import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Testing

@Suite struct `An encrypted store` {
    private let fixture: StoreFixture
    private let file = "default.session"
    private let sealer: EncryptingSealer

    init() throws {
        fixture = try StoreFixture()
        sealer = try Self.sealer("0")
    }

    private static func sealer(_ digit: Character) throws -> EncryptingSealer {
        try #require(EncryptingSealer(key: Secret(String(repeating: digit, count: 64))))
    }

    /// Everything on the disk.
    private var everything: String {
        TemporaryDirectory.entries(of: fixture.directory)
            .map { String(decoding: fixture.contents($0), as: UTF8.self) }.joined()
    }

    @Test func `gives back what another opening saved, and shows nothing of it`() async throws {
        _ = try await fixture.openWithTwoGenerations(sealer: sealer)
        #expect(try await fixture.open(sealer: sealer).load("default")?.refreshText == "refresh-2")
        #expect(!everything.contains("refresh") && !everything.contains("openid"))
    }

    @Test func `seals for one identity of one store where it has a name, and reads what had none`() throws {
        let (one, other) = (sealer.bound(to: "one:"), sealer.bound(to: "other:"))
        let text = Array("fake".utf8)
        #expect(one.open(one.seal(text, for: "a"), for: "a") == .plaintext(text))
        for wrong in [
            other.open(one.seal(text, for: "a"), for: "a"), one.open(one.seal(text, for: "a"), for: "b"),
            sealer.open(one.seal(text, for: "a"), for: "a"),
            sealer.open(sealer.seal(text, for: "a"), for: "b"),
        ] { #expect(wrong == .damaged) }
        #expect(one.open(sealer.seal(text, for: "a"), for: "a") == .plaintext(text))
    }

    @Test(arguments: [true, false])
    func `takes no identity's file for another's`(isEncrypted: Bool) async throws {
        let sealer: any Sealer = isEncrypted ? sealer : PlainSealer()
        let store = try fixture.open(sealer: sealer)
        try await store.save(.sample(generation: 1))
        rename(fixture.path(file), fixture.path("other.session"))
        #expect(try await store.load("other") == nil)
    }

    @Test func `is refused with another key or none, and left as it is`() async throws {
        try await fixture.open(sealer: sealer).save(.sample(generation: 1))
        let before = fixture.contents(file)
        let expected = [
            "is encrypted with another key than store.encryption_key",
            "is encrypted: set store.encryption_key to the key it was made with",
        ]
        for (wrong, problem) in zip([try Self.sealer("1"), PlainSealer()] as [any Sealer], expected) {
            #expect(throws: FileStoreError.foreign(path: fixture.path(file), problem: problem)) {
                try fixture.open(sealer: wrong)
            }
        }
        #expect(fixture.contents(file) == before)
        #expect(TemporaryDirectory.entries(of: fixture.directory) == [file, "\(file).lock", "encrypted"])
    }

    @Test func `is not overwritten by who opened it before it had its key`() async throws {
        let late = try fixture.open(sealer: Self.sealer("1"))
        try await fixture.open(sealer: sealer).save(.sample(generation: 1))
        let before = fixture.contents(file)
        await #expect(throws: StoreError.self) { try await late.load("default") }
        await #expect(throws: StoreError.self) { try await late.save(.sample(generation: 2)) }
        #expect(fixture.contents(file) == before)
    }

    @Test func `takes over what lay there unencrypted, the generation before as well`() async throws {
        _ = try await fixture.openWithTwoGenerations()
        #expect(everything.contains("refresh-1") && everything.contains("refresh-2"))
        let store = try fixture.open(sealer: sealer)
        #expect(try await store.load("default")?.generation == 2)
        #expect(!everything.contains("refresh"))
        fixture.overwrite(file, [])
        #expect(try await store.load("default")?.generation == 1)
    }

    @Test func `tells no news when it encrypts what lay there`() async throws {
        try await fixture.open().save(.sample(generation: 1))
        let store = try fixture.open(sealer: sealer)
        var changes = store.changes(of: "default").makeAsyncIterator()
        _ = try await store.load("default")
        try await fixture.open(sealer: sealer).save(.sample(generation: 2))
        #expect(await changes.next() != nil)
        #expect(try await store.load("default")?.generation == 2)
    }

    @Test func `does not take one identity's file for another's`() async throws {
        let store = try fixture.open(sealer: sealer)
        try await store.save(.sample("a", generation: 1))
        fixture.overwrite("b.session", fixture.contents("a.session"))
        #expect(try await store.load("b") == nil)
        #expect(try await store.load("a")?.generation == 1)
    }

    @Test func `gives an error or the generation before, whatever bit is flipped and wherever it is cut`()
        async throws
    {
        let store = try await fixture.openWithTwoGenerations(sealer: sealer)
        let whole = fixture.contents(file)
        for index in whole.indices {
            var flipped = whole
            flipped[index] ^= UInt8(1 << (index % 8))
            for bytes in [flipped, Array(whole[..<index])] {
                fixture.overwrite(file, bytes)
                let session = try? await store.load("default")
                #expect(session == nil || session?.generation == 1, "byte \(index)")
            }
        }
    }

    @Test func `gives the generation before if a session is cut inside of its first line`() async throws {
        let store = try await fixture.openWithTwoGenerations(sealer: sealer)
        let whole = fixture.contents(file)
        let end = try #require(whole.firstIndex(of: UInt8(ascii: "\n")))
        for length in 0...end {
            fixture.overwrite(file, Array(whole[..<length]))
            #expect(try await store.load("default")?.generation == 1, "cut at \(length)")
        }
    }

    @Test func `gives an error or nothing, whatever bit of an only generation is flipped`() async throws {
        let store = try fixture.open(sealer: sealer)
        try await store.save(.sample(generation: 1))
        let whole = fixture.contents(file)
        for index in whole.indices {
            var bytes = whole
            bytes[index] ^= UInt8(1 << (index % 8))
            fixture.overwrite(file, bytes)
            let session = try? await store.load("default")
            #expect(session == nil, "byte \(index)")
        }
    }

    @Test func `takes nothing in plain text once it has written a session`() async throws {
        try await fixture.open(sealer: sealer).save(.sample(generation: 1))
        let planted = StoredSession.sample(generation: 9).encoded()
        let running = try fixture.open(sealer: sealer)
        for name in [file, "other.session", file + ".previous"] {
            let before = fixture.contents(name)
            fixture.overwrite(name, planted)
            let error = #expect(throws: FileStoreError.self) { try fixture.open(sealer: sealer) }
            let problem = error.map { "\($0)" } ?? ""
            #expect(problem.contains("an import") && problem.contains(fixture.path(name)), "\(problem)")
            if name == file {
                await #expect(throws: StoreError.self) { try await running.load("default") }
            }
            #expect(fixture.contents(name) == planted, "it is left as it is")
            if before.isEmpty { unlink(fixture.path(name)) } else { fixture.overwrite(name, before) }
        }
        #expect(try await fixture.open(sealer: sealer).load("default")?.generation == 1)
        // Another identity's encrypted session speaks for the store where the mark is gone.
        unlink(fixture.path("encrypted"))
        fixture.overwrite("other.session", planted)
        #expect(throws: FileStoreError.self) { try fixture.open(sealer: sealer) }
    }

    @Test func `takes over several identities one after the other, over a restart`() async throws {
        let plain = try fixture.open()
        for name in ["a", "b"] { try await plain.save(.sample(name, generation: 1)) }
        let first = try fixture.open(sealer: sealer)
        #expect(try await first.load("a")?.generation == 1)
        let second = try fixture.open(sealer: sealer)
        #expect(try await second.load("b")?.generation == 1)
        #expect(!everything.contains("refresh"))
        fixture.overwrite("b.session", StoredSession.sample("b", generation: 2).encoded())
        #expect(throws: FileStoreError.self) { try fixture.open(sealer: sealer) }
    }

    @Test func `leaves alone what a later version has encrypted in its own way`() async throws {
        let later = Array("bearerd-sealed 2 xchacha key\n0123".utf8)
        let store = try fixture.open(sealer: sealer)
        fixture.overwrite(file, later)
        for store in [store, try fixture.open()] {
            let error = await #expect(throws: StoreError.self) { try await store.load("default") }
            #expect(error?.reason.contains("later version") == true)
            await #expect(throws: StoreError.self) { try await store.save(.sample(generation: 1)) }
        }
        #expect(fixture.contents(file) == later && fixture.reports.isEmpty)
    }
}
