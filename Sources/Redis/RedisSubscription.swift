// SPDX-License-Identifier: Apache-2.0

import EventLoop
import RESP

/// The connection that the server tells changes over; made anew when it is lost.
///
/// What it misses is found by asking, so nothing depends on it but haste.
actor RedisSubscription: LoopConfined {
    nonisolated let loop: EventLoop
    private let settings: RedisSettings
    private let channel: [UInt8]
    private let dialer: RedisDialer
    private let onMessage: @Sendable (String?) -> Void
    private var connection: RedisConnection?
    private var isClosed = false

    /// How long nothing may come before the connection is taken for lost.
    private static let silence: Duration = .seconds(600)
    private static let shortestPause: Duration = .milliseconds(250)
    private static let longestPause: Duration = .seconds(4)

    /// - Parameter onMessage: hears what is said on the channel, and nil when it begins to listen: who knows what was said
    ///   before.
    init(
        _ settings: RedisSettings, channel: String, loop: EventLoop,
        onMessage: @escaping @Sendable (String?) -> Void
    ) {
        self.settings = settings
        self.channel = Array(channel.utf8)
        self.loop = loop
        self.onMessage = onMessage
        dialer = RedisDialer(settings, loop: loop)
    }

    /// Listens until ``close()``.
    func run() async {
        var pause = Self.shortestPause
        while !isClosed {
            do throws(RedisError) {
                let connection = try await subscribed()
                onMessage(nil)
                pause = Self.shortestPause
                try await listen(on: connection)
            } catch {
                connection?.close()
                connection = nil
            }
            guard !isClosed else { return }
            await loop.pause(for: pause * Double.random(in: 0.5...1))
            pause = min(pause * 2, Self.longestPause)
        }
    }

    func close() {
        isClosed = true
        connection?.close()
    }

    private func subscribed() async throws(RedisError) -> RedisConnection {
        let fresh = try await dialer.connect()
        connection = fresh
        let reply = try await fresh.perform(
            RESPCommand([Array("SUBSCRIBE".utf8), channel]), by: .now + settings.commandLimit)
        guard reply.array?.first?.text == "subscribe" else {
            throw .unreachable(server: "\(fresh.server)", reason: "cannot be listened to", key: nil)
        }
        return fresh
    }

    private func listen(on connection: RedisConnection) async throws(RedisError) {
        while !isClosed {
            let value = try await connection.next(by: .now + Self.silence)
            guard let parts = value.array, parts.count == 3, parts[0].text == "message",
                let text = parts[2].text
            else { continue }
            onMessage(text)
        }
    }
}
