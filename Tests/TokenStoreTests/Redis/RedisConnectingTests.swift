// SPDX-License-Identifier: Apache-2.0

import BearerdRedis
import BearerdTestSupport
import OAuth
import Testing

@Suite(.needs(.redis))
struct `Connecting to Redis` {
    private let fixture: RedisFixture

    init() throws {
        fixture = try RedisFixture()
    }

    @Test(arguments: ["store.password_file", "store.client_certificate_file"])
    func `waits no longer than for a server for a disk that is gone, and names the key`(
        key: String
    )
        async throws
    {
        let (disk, end) = AsyncStream<Void>.makeStream()
        defer { end.finish() }
        let store = try fixture.open { settings in
            settings.connectLimit = .milliseconds(200)
            settings.passwordKey = "store.password_file"
            if key == settings.passwordKey {
                settings.password = {
                    for await _ in disk {}
                    return .success(nil)
                }
            } else {
                settings.prepare = {
                    for await _ in disk {}
                    return nil
                }
            }
        }
        for _ in 0..<2 {
            let start = ContinuousClock.now
            await #expect {
                _ = try await store.generation()
            } throws: { error in
                guard case .unreachable(let reason)? = error as? StoreError else { return false }
                return reason.contains(key) && reason.contains("in time")
            }
            #expect(ContinuousClock.now - start < .seconds(5))
        }
        await store.close()
    }

    @Test(arguments: [Duration.zero, .seconds(3600)])
    func `asks the sentinels again once the daemon has stood still, whoever goes on as master`(
        silence: Duration
    )
        async throws
    {
        let other = try RedisProcess()
        let master = Monitor(fixture.server.address.port)
        let sentinel = try RawServer { wire in
            _ = try CuttingProxy.message(from: wire)
            let port = master.withLock { "\($0)" }
            try wire.send(Array("*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n".utf8))
        }
        defer { withExtendedLifetime((sentinel, other)) {} }
        let place = try #require(
            RedisServer(host: "127.0.0.1", port: sentinel.address.port, isEncrypted: false))
        let store = try fixture.open { settings in
            settings.sentinels = [place]
            settings.masterName = "fleet"
            settings.longestSilence = silence
        }
        try await store.save(.sample(generation: 1))
        master.withLock { $0 = other.address.port }
        let generation = try await store.generation()
        #expect(generation == (silence == .zero ? nil : 1))
        await store.close()
    }

    @Test(arguments: [false, true])
    func `asks all sentinels again where the master has lost its replicas, and goes where one says`(
        isFirstCutOff: Bool
    )
        async throws
    {
        let other = try RedisProcess()
        let server = fixture.server
        let master = Monitor(server.address.port)
        let asked = Monitor(0)
        let sentinel = try RawServer { wire in
            _ = try CuttingProxy.message(from: wire)
            let port = master.withLock { "\($0)" }
            try wire.send(Array("*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n".utf8))
            asked.withLock { $0 += 1 }
        }
        // It was cut off together with the master, and knows of no other one.
        let first = try RawServer { wire in
            _ = try CuttingProxy.message(from: wire)
            let port = "\(server.address.port)"
            try wire.send(Array("*2\r\n$9\r\n127.0.0.1\r\n$\(port.utf8.count)\r\n\(port)\r\n".utf8))
        }
        defer { withExtendedLifetime((sentinel, first, other)) {} }
        let places = try (isFirstCutOff ? [first, sentinel] : [sentinel]).map {
            try #require(RedisServer(host: "127.0.0.1", port: $0.address.port, isEncrypted: false))
        }
        let store = try fixture.open { settings in
            settings.sentinels = places
            settings.masterName = "fleet"
            settings.longestSilence = .seconds(3600)
        }
        try await store.save(.sample(generation: 1))
        let before = asked.withLock { $0 }
        let start = ContinuousClock.now
        try server("CONFIG", "SET", "min-replicas-to-write", "1")
        // As long as there is no other one, what it has can be read.
        for _ in 0..<20 {
            await #expect(throws: StoreError.self) { try await store.withLock(waitingAtMost: .zero) }
            #expect(try await store.generation() == 1)
        }
        try asked.wait(for: "the question") { $0 > before ? () : nil }
        #expect(
            asked.withLock { $0 } - before <= 2 + Int((ContinuousClock.now - start) / .seconds(1)),
            "a round in a second, however many writes are refused")
        master.withLock { $0 = other.address.port }
        let limit = ContinuousClock.now + patience
        while try await store.generation() == 1, .now < limit {
            // It works from the moment on at which the sentinels' answer is there.
            _ = try? await store.withLock(waitingAtMost: .zero)
        }
        try await store.save(.sample(generation: 2))
        #expect(try other("EXISTS", "bearerd:session:default") == "1")
        await store.close()
    }

    /// What servers say of a script that they do not let end.
    static let refusals: [(String, StoreError.Kind)] = [
        // Redis 6
        (
            "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: "
                + "-NOPERM The user executing the script can't run this command or subcommand", .forbidden
        ),
        (
            "ERR Error running script (call to f_0): @user_script:1: @user_script: 1: "
                + "-READONLY You can't write against a read only replica.", .unreachable
        ),
        ("ERR Error running script (call to f_0): @user_script:1: -OOM command not allowed", .unavailable),
        // Redis 7.0
        (
            "ERR The user executing the script can't access at least one of the keys mentioned in the command "
                + "arguments script: 0, on @user_script:1.", .forbidden
        ),
        ("READONLY You can't write against a read only replica. script: 0, on @user_script:1.", .unreachable),
        // Redis 7.2, Valkey
        (
            "ERR ACL failure in script: User bearerd has no permissions to run the 'set' command script: 0, "
                + "on @user_script:1.", .forbidden
        ),
        ("ERR unknown", .unavailable),
    ]

    @Test(arguments: refusals)
    func `understands what each release says of a script that fails`(
        text: String, kind: StoreError.Kind
    )
        async throws
    {
        let directory = try TemporaryDirectory()
        let server = try RawServer(unixPath: directory.path("redis.sock")) { wire in
            while true {
                let command = String(decoding: try CuttingProxy.message(from: wire), as: UTF8.self)
                let answer =
                    command.contains("ROLE") ? "*1\r\n$6\r\nmaster\r\n" : "-\(text)\r\n"
                try wire.send(Array(answer.utf8))
            }
        }
        defer { withExtendedLifetime(server) {} }
        let store = try fixture.open(at: directory.path("redis.sock"))
        let error = await #expect(throws: StoreError.self) { try await store.withLock() }
        #expect(error?.kind == kind, "\(String(describing: error))")
        #expect(error?.isRefused == (kind == .forbidden))
        await store.close()
    }

    @Test func `ends with a reset where an answer does not come in time, so that no command comes late`()
        async throws
    {
        let end = Monitor<Bool?>(nil)
        let server = try RawServer { wire in
            while true {
                let command = String(decoding: try CuttingProxy.message(from: wire), as: UTF8.self)
                guard !command.contains("EVAL") else {
                    let isOrderly = try wire.endsInOrder()
                    return end.withLock { $0 = isOrderly }
                }
                try wire.send(
                    Array((command.contains("ROLE") ? "*1\r\n$6\r\nmaster\r\n" : "-ERR unknown\r\n").utf8))
            }
        }
        defer { withExtendedLifetime(server) {} }
        let place = try #require(
            RedisServer(host: "127.0.0.1", port: server.address.port, isEncrypted: false))
        let store = try fixture.open { settings in
            settings = RedisSettings(server: place)
            settings.commandLimit = .seconds(2)
        }
        await #expect(throws: StoreError.self) { try await store.withLock() }
        #expect(try end.wait(for: "the end") { $0 } == false)
        await store.close()
    }
}

extension StoreError {
    enum Kind {
        case unreachable, unavailable, forbidden, other
    }

    fileprivate var kind: Kind {
        switch self {
        case .unreachable: .unreachable
        case .unavailable: .unavailable
        case .forbidden: .forbidden
        case .busy, .denied, .refused, .outdated, .leaseLost: .other
        }
    }
}
