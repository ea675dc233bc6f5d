// SPDX-License-Identifier: Apache-2.0

import EventLoop
import HTTPClient
import HTTPMessages
import RESP

/// One open connection to a Redis server.
///
/// Confined to its loop's thread.
final class RedisConnection {
    let server: RedisServer
    private let passwordKey: String
    private let connection: UpstreamConnection
    private var hasHeard = false
    private var stream: ByteStream { connection.stream }

    /// - Parameter passwordKey: the key of the configuration to look at where the server takes no password.
    init(_ connection: UpstreamConnection, to server: RedisServer, passwordKey: String) {
        self.connection = connection
        self.server = server
        self.passwordKey = passwordKey
    }

    func close() { connection.close() }

    /// Has a command done, whatever it answers.
    ///
    /// - Throws: ``RedisError/unreachable(server:reason:key:)``, after which the connection is of no more use.
    func exchange(
        _ command: RESPCommand, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> RESPValue {
        do throws(StreamError) {
            try await stream.write(command.encoded, within: Self.rest(until: deadline))
        } catch {
            guard let words = await lastWords() else { throw failure(error) }
            return words
        }
        return try await next(by: deadline)
    }

    /// What a server said before it closed a connection that had just been made: that it takes no more clients.
    private func lastWords() async -> RESPValue? {
        guard !hasHeard else { return nil }
        return try? await next(by: .now + .milliseconds(100))
    }

    /// Has a command done.
    ///
    /// - Throws: ``RedisError``.
    func perform(
        _ command: RESPCommand, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> RESPValue {
        let reply = try await exchange(command, by: deadline)
        if let code = reply.refusal { throw error(code) }
        return reply
    }

    /// What an error reply means.
    func error(_ code: RedisErrorCode) -> RedisError {
        RedisError(reply: code, of: server, passwordKey: passwordKey)
    }

    /// The next value that the server says.
    func next(by deadline: ContinuousClock.Instant) async throws(RedisError) -> RESPValue {
        while true {
            if let value = try parsed() { return value }
            let hasMore: Bool
            do throws(StreamError) {
                guard ContinuousClock.now < deadline else { throw .timedOut }
                hasMore = try await stream.fill(
                    within: Self.rest(until: deadline), capacity: StoragePool.small, isInside: true)
            } catch {
                throw failure(error)
            }
            guard hasMore else { throw end("the connection ended") }
            hasHeard = true
        }
    }

    private func parsed() throws(RedisError) -> RESPValue? {
        do throws(RESPError) {
            guard
                let (value, length) = try stream.input.withReadable({ bytes throws(RESPError) in
                    try RESPParser.parse(bytes)
                })
            else { return nil }
            stream.input.consume(length)
            return value
        } catch {
            guard stream.input.withReadable({ $0.isEmpty ? 0 : $0[0] }) == Self.tlsAlert else {
                throw failure("what answers does not speak as Redis does, or says too much")
            }
            throw failure("it speaks TLS: make it rediss://", RedisKey.url)
        }
    }

    /// What a server that wants TLS begins with when it hears no greeting (RFC 8446 §5.1).
    private static let tlsAlert: UInt8 = 21

    private func failure(_ error: StreamError) -> RedisError {
        switch error {
        case .timedOut: failure("no answer came in time")
        case .closed, .reset: end("the connection was reset")
        case .failed: failure(error.reason)
        case .unencrypted, .certificate, .transport: end("TLS failed")
        }
    }

    /// A server judges its client's certificate when the client takes the connection for made (TLS 1.3).
    private func end(_ reason: String) -> RedisError {
        guard !hasHeard, server.url.socketPath == nil else { return failure(reason) }
        guard server.url.scheme == .https else {
            return failure(
                "\(reason) before it said a word, as where TLS is spoken: then make it rediss://",
                RedisKey.url)
        }
        return failure(
            "\(reason) before it said a word, as where it does not take our certificate, or misses one",
            RedisKey.clientCertificateFile)
    }

    private func failure(_ reason: String, _ key: String? = nil) -> RedisError {
        close()
        return .unreachable(server: "\(server)", reason: reason, key: key)
    }

    private static func rest(until deadline: ContinuousClock.Instant) -> Duration {
        max(deadline - .now, .milliseconds(1))
    }
}
