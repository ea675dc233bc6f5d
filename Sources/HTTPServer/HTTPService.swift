// SPDX-License-Identifier: Apache-2.0

package import EventLoop
internal import HTTPTypes

/// Serves an ``HTTPResponder`` on one loop: the admin listener and the development servers.
///
/// It collects bodies and allocates as it pleases; the proxy's own traffic does not come this way.
package actor HTTPService: LoopConfined {
    package nonisolated let loop: EventLoop

    private let responder: any HTTPResponder
    private let limits = HeadLimits()
    private let timeouts = ServerTimeouts()
    private let bodyLimit: UInt64 = 1 << 20
    private var listeners: [Listener] = []
    private var connections: [ObjectIdentifier: ServerConnection] = [:]
    private var isStopping = false

    package init(loop: EventLoop, responder: any HTTPResponder) {
        self.loop = loop
        self.responder = responder
    }

    /// Accepts connections on `socket` until ``stop()``.
    package func listen(on socket: ListeningSocket) {
        listeners.append(
            Listener(socket, loop: loop) { stream, peer in
                // On the loop's thread, which is this actor's executor. The cycle ends in stop().
                self.accepted(stream, peer)
            })
    }

    /// Stops accepting and closes what is idle; answers under way are finished.
    package func stop() {
        isStopping = true
        listeners.forEach { $0.close() }
        listeners = []
        for connection in connections.values where connection.isIdle { connection.stream.close() }
    }

    /// Stops, and waits for the answers under way; not longer than `limit`.
    package func stop(waitingAtMost limit: Duration) async {
        stop()
        let deadline = ContinuousClock.now + limit
        while !connections.isEmpty, .now < deadline { await loop.pause(for: .milliseconds(10)) }
    }

    private func accepted(_ stream: ByteStream, _ peer: PeerAddress) {
        let connection = ServerConnection(stream: stream, peer: peer, limits: limits, timeouts: timeouts)
        connections[ObjectIdentifier(connection)] = connection
        Task {
            // Without the preference each resumption would pass through the global pool.
            await withTaskExecutorPreference(loop) { await self.serve(connection) }
        }
    }

    private func serve(_ connection: ServerConnection) async {
        defer { connections[ObjectIdentifier(connection)] = nil }
        do {
            while try await connection.receiveHead() {
                try await answer(on: connection)
                guard connection.persists, !isStopping else { break }
                connection.answered()
            }
            connection.stream.close()
        } catch let error as MessageError {
            await refuse(error, on: connection)
        } catch {
            connection.stream.close()
        }
    }

    private func answer(on connection: ServerConnection) async throws {
        do {
            connection.body.begin(
                try connection.request.framing.get(), on: connection.stream, limit: bodyLimit)
        } catch {
            throw MessageError.malformed(error)
        }
        if connection.request.fields.containsToken("100-continue", in: .expect) {
            try await connection.stream.write(
                Array("HTTP/1.1 100 Continue\r\n\r\n".utf8), within: timeouts.streamIdle)
        }
        let body = try await connection.body.collect(within: timeouts.header)
        let request = ServiceRequest(head: connection.request, body: body, peer: connection.peer)
        try await send(await responder.respond(to: request), on: connection)
    }

    private func send(_ reply: ServiceReply, on connection: ServerConnection) async throws {
        var head = reply.head
        let isHead = connection.request.method == .head
        if isStopping { connection.endAfterAnswer() }
        switch reply.body {
        case .bytes(let bytes):
            if head.status != 204, head.status != 304 { head.fields[.contentLength] = String(bytes.count) }
            if !connection.persists { head.fields[.connection] = "close" }
            var output: [UInt8] = []
            head.serialize(into: &output)
            if !isHead { output.append(contentsOf: bytes) }
            try await connection.stream.write(output, within: timeouts.streamIdle)
        case .stream(let produce):
            let isChunked = connection.request.version == .http11
            if isChunked { head.fields[.transferEncoding] = "chunked" } else { connection.endAfterAnswer() }
            if !connection.persists { head.fields[.connection] = "close" }
            var output: [UInt8] = []
            head.serialize(into: &output)
            try await connection.stream.write(output, within: timeouts.streamIdle)
            guard !isHead else { return }
            let writer = ServiceBodyWriter(
                stream: connection.stream, isChunked: isChunked, loop: loop, timeout: timeouts.streamIdle)
            try await produce(writer)
            try await writer.finish()
        }
    }

    private func refuse(_ error: MessageError, on connection: ServerConnection) async {
        guard case .malformed(let reason) = error else { return connection.stream.close() }
        var head = HTTPResponse(status: reason.status)
        head.fields[.connection] = "close"
        head.fields[.contentLength] = "0"
        var output: [UInt8] = []
        head.serialize(into: &output)
        try? await connection.stream.write(output, within: .seconds(1))
        await connection.lingerAndClose()
    }
}
