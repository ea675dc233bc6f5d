// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
import BearerdRedis
import BearerdTestSupport
import BearerdTokenStore
import OAuth
import Synchronization

/// Stores on one loop, and what they tell.
final class RedisFixture: Sendable {
    let server: RedisProcess
    private let loop: EventLoop
    private let told = Monitor<[RedisEvent]>([])

    init(_ server: RedisProcess? = nil) throws {
        try HTTPClientLibrary.initialize()
        self.server = try server ?? RedisProcess()
        loop = try EventLoop(name: "redis")
        _ = try loop.start()
    }

    deinit { loop.stop() }

    /// What people were told so far.
    var events: [RedisEvent] { told.withLock { $0 } }

    /// Waits until somebody was told something.
    func event(_ awaited: String, _ isIt: (RedisEvent) -> Bool) throws -> RedisEvent {
        try told.wait(for: awaited) { $0.first(where: isIt) }
    }

    /// One more daemon's view of the same server.
    ///
    /// - Parameters:
    ///   - path: of the socket; the server's own if it is not given.
    ///   - key: one digit of its encryption key.
    func open(
        at path: String? = nil, key: Character = "0", _ change: (inout RedisSettings) -> Void = { _ in }
    ) throws -> RedisStore {
        guard let place = RedisServer(socket: path ?? server.directory.path("redis.sock")),
            let sealer = EncryptingSealer(key: Secret(String(repeating: key, count: 64)))
        else { throw WireError("no place, or no key") }
        var settings = RedisSettings(server: place)
        change(&settings)
        return RedisStore(settings, sealer: sealer, on: loop) { [told] event in
            told.withLock { $0.append(event) }
        }
    }
}

extension RedisStore {
    /// The generation that is stored.
    func generation() async throws(StoreError) -> Int? { try await load("default")?.generation }
}
