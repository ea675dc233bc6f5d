// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdRedis
import BearerdSystem
import BearerdTestSupport
import BearerdTokenStore
import Glibc
import OAuth
import Synchronization

/// A file store in a directory of its own.
final class StoreFixture: Sendable {
    let parent: TemporaryDirectory
    let directory: String
    let thread: ThreadExecutor
    private let damaged = Mutex<[DamagedEntry]>([])
    private let redis = Mutex<(server: RedisProcess, loop: EventLoop)?>(nil)

    init() throws {
        thread = try ThreadExecutor(named: "store")
        parent = try TemporaryDirectory()
        directory = parent.path("store")
    }

    deinit {
        thread.stop()
        redis.withLock { $0?.loop.stop() }
    }

    /// One more opening of a store in a Redis of the fixture's own.
    func openRedis() throws -> RedisStore {
        let (server, loop) = try redis.withLock { known in
            if let known { return known }
            try HTTPClientLibrary.initialize()
            let made = (server: try RedisProcess(), loop: try EventLoop(name: "redis"))
            _ = try made.loop.start()
            known = made
            return made
        }
        guard let place = RedisServer(socket: String(server.url.dropFirst("redis+unix:".count))),
            let sealer = EncryptingSealer(key: Secret(String(repeating: "0", count: 64)))
        else { throw WireError("no place, or no key") }
        return RedisStore(RedisSettings(server: place), sealer: sealer, on: loop)
    }

    var reports: [DamagedEntry] { damaged.withLock { $0 } }

    /// One more opening of the same store, as another process would have it.
    func open(at path: String? = nil, sealer: any Sealer = PlainSealer()) throws -> FileStore {
        try FileStore(directory: path ?? directory, on: thread, sealer: sealer) { [weak self] entry in
            self?.damaged.withLock { $0.append(entry) }
        }
    }

    /// An opening that has stored a session twice, so that there is a generation before.
    func openWithTwoGenerations(sealer: any Sealer = PlainSealer()) async throws -> FileStore {
        let store = try open(sealer: sealer)
        for generation in 1...2 { try await store.save(.sample(generation: generation)) }
        return store
    }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    func contents(_ name: String) -> [UInt8] { TemporaryDirectory.contents(of: path(name)) }

    /// Replaces a file's content in place, as a disk does that loses it.
    func overwrite(_ name: String, _ bytes: [UInt8]) {
        let descriptor = Glibc.open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        _ = Glibc.write(descriptor, bytes, bytes.count)
        close(descriptor)
    }
}

extension StoredSession {
    /// A session whose every token carries its generation.
    static func sample(_ identity: String = "default", generation: Int, padding: Int = 0) -> StoredSession {
        var session = StoredSession(
            identity: identity, generation: generation, binding: "https://issuer.example client")
        session.refreshToken = Secret("refresh-\(generation)" + String(repeating: "x", count: padding))
        session.scope = ["openid", "profile"]
        session.lastRefresh = WallTime(secondsSinceEpoch: 1_800_000_000)
        return session
    }

    var refreshText: String? { refreshToken?.withPlaintext { $0 } }
}
