// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdRESP

/// One open connection to a Redis server, confined to its loop's thread.
final class RedisConnection {
    let server: RedisServer
    private let passwordKey: String
    private let connection: UpstreamConnection
    private var hasHeard = false
    private var stream: ByteStream { connection.stream }

    /// - Parameter passwordKey: the configuration key to name if the server refuses the password.
    init(_ connection: UpstreamConnection, to server: RedisServer, passwordKey: String) {
        self.connection = connection
        self.server = server
        self.passwordKey = passwordKey
    }

    func close() { connection.close() }

    /// Sends a command and returns the reply, which may be an error.
    ///
    /// - Throws: ``RedisError/unreachable(server:reason:key:)``; the connection is of no use afterwards.
    func reply(
        to command: RESPCommand, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> RESPValue {
        // Taken for the answer to this command, it would put every answer to come out of step.
        if hasHeard, hasUnaskedBytes { throw failure("it says more than it was asked") }
        do throws(StreamError) {
            try await stream.write(command.encoded, within: Self.rest(until: deadline))
        } catch {
            guard let words = await lastWords() else { throw failure(error) }
            return words
        }
        return try await next(by: deadline)
    }

    /// True if something has arrived that is the answer to none of our commands.
    private var hasUnaskedBytes: Bool {
        if stream.input.isEmpty { _ = try? stream.receive() }
        return !stream.input.isEmpty
    }

    /// The error that a server sends before it closes a new connection because it has too many clients.
    private func lastWords() async -> RESPValue? {
        guard !hasHeard else { return nil }
        return try? await next(by: .now + .milliseconds(100))
    }

    /// Sends a command and returns its reply; throws error replies.
    func perform(
        _ command: RESPCommand, by deadline: ContinuousClock.Instant
    ) async throws(RedisError) -> RESPValue {
        let reply = try await reply(to: command, by: deadline)
        if let code = reply.refusal { throw error(code) }
        return reply
    }

    func error(_ code: RedisErrorCode) -> RedisError {
        RedisError(reply: code, of: server, passwordKey: passwordKey)
    }

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
            guard stream.input.withReadable({ $0.isEmpty ? 0 : $0[0] }) == Self.tlsAlert
            else { throw failure("what answers does not speak as Redis does, or says too much") }
            throw failure("it speaks TLS: make it rediss://", RedisKey.url)
        }
    }

    /// The first byte of a TLS alert (RFC 8446 §5.1), which a server sends if it expects TLS.
    private static let tlsAlert: UInt8 = 21

    private func failure(_ error: StreamError) -> RedisError {
        switch error {
        case .timedOut:
            // What the kernel has not delivered yet must not come to the server behind what we send it by another connection: a
            // lock that is asked for would be nobody's.
            stream.abort()
            return failure("no answer came in time")
        case .closed, .reset: return end("the connection was reset")
        case .failed: return failure(error.reason)
        case .unencrypted, .certificate, .flooded, .transport: return end("TLS failed")
        }
    }

    /// A connection that ended; in TLS 1.3 a server judges the client's certificate after the client's handshake is
    /// done.
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
