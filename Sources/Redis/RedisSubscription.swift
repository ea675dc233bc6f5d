// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdRESP

/// The connection on which the server reports changes. It is opened again after it was lost.
///
/// A missed report only costs time: changes are also found by reading.
actor RedisSubscription: LoopConfined {
    /// A report to the store.
    enum News: Sendable {
        /// It listens from now on; earlier changes may have been missed.
        case began
        /// A session of this identity was stored or removed.
        case changed(String)
        /// It must not listen.
        case forbidden(RedisError)
    }

    nonisolated let loop: EventLoop
    private let settings: RedisSettings
    private let channel: String
    private let dialer: RedisDialer
    private let onNews: @Sendable (News) -> Void
    private var connection: RedisConnection?
    private var isClosed = false

    /// The longest silence before the connection counts as lost.
    private static let silence: Duration = .seconds(600)
    private static let shortestPause: Duration = .milliseconds(250)
    private static let longestPause: Duration = .seconds(4)

    init(
        _ settings: RedisSettings, channel: String, loop: EventLoop,
        onNews: @escaping @Sendable (News) -> Void
    ) {
        self.settings = settings
        self.channel = channel
        self.loop = loop
        self.onNews = onNews
        dialer = RedisDialer(settings, loop: loop)
    }

    /// Listens until ``close()``.
    func run() async {
        var pause = Self.shortestPause
        while !isClosed {
            do throws(RedisError) {
                let connection = try await subscribed()
                onNews(.began)
                pause = Self.shortestPause
                try await listen(on: connection)
            } catch {
                if case .forbidden = error { onNews(.forbidden(error)) }
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
        try await Self.subscribe(to: channel, on: fresh, by: .now + settings.commandLimit)
        return fresh
    }

    /// Subscribes a connection to a channel; it can do nothing else afterwards.
    static func subscribe(
        to channel: String, on connection: RedisConnection, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) {
        let command = "SUBSCRIBE"
        let reply = try await connection.reply(to: RESPCommand(command, channel), by: deadline)
        if let code = reply.refusal {
            throw connection.error(code).naming("\(command) to \(channel)")
        }
        guard reply.array?.first?.text == "subscribe"
        else { throw .unreachable(server: "\(connection.server)", reason: "cannot be listened to", key: nil) }
    }

    private func listen(on connection: RedisConnection) async throws(RedisError) {
        while !isClosed {
            let value = try await connection.next(by: .now + Self.silence)
            guard let parts = value.array, parts.count == 3, parts[0].text == "message",
                let text = parts[2].text
            else { continue }
            onNews(.changed(text))
        }
    }
}
