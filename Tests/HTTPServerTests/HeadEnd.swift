// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdHTTPServer

/// The server's side of a connection on which a head is received.
actor HeadEnd: LoopConfined {
    nonisolated let loop: EventLoop
    private let stream: ByteStream
    private let connection: ServerConnection

    /// - Parameter descriptor: one end of a socket pair, which is the object's.
    init(loop: EventLoop, descriptor: Int32, timeouts: ServerTimeouts) {
        self.loop = loop
        stream = ByteStream(
            wire: SocketWire(descriptor: descriptor),
            readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
        connection = ServerConnection(
            stream: stream, peer: .unknown, limits: HeadLimits(), timeouts: timeouts)
    }

    /// The failure of receiving a head; nil if it succeeds.
    func failure() async -> MessageError? {
        do throws(MessageError) {
            _ = try await connection.receiveHead()
            return nil
        } catch {
            return error
        }
    }

    /// Waits until so many bytes have come, then has the connection hurry so often.
    func hurry(behind count: UInt64, times: Int) async {
        while stream.bytesReceived < count { await loop.pause(for: .milliseconds(1)) }
        for _ in 0..<times { connection.hurry() }
    }

    /// Receives what nobody wants, to the end of it.
    func linger() async { await connection.lingerAndClose() }

    /// Receives a head, and drops the rest of its message.
    ///
    /// - Returns: what is left of a minute; nil once another message may come.
    func skipRest() async throws -> Duration? {
        _ = try await connection.receiveHead()
        _ = try connection.beginBody(limit: .max)
        return await connection.skipRest(within: .seconds(60))
    }

    var isOpen: Bool { stream.isOpen }

    func close() { stream.close() }
}
