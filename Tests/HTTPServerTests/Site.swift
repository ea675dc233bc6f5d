// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTP1
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdHTTPServer
import Glibc

/// A loop with a connection that is never silent, one that waits for a byte, and a timer.
actor Site: LoopConfined {
    /// The traffic of the connection that is never silent.
    enum Pump: CaseIterable {
        case receiving, sending, forwarding, requests, chunks, collecting, lingering
    }

    /// How far a pump had come when the others were served.
    struct Progress {
        var movedAtEvent = 0
        var requestsAtEvent = 0
        var movedAtTimer = 0
    }

    nonisolated let loop: EventLoop
    private let quiet: ByteStream
    private let other: Int32
    private var requests = 0
    /// The number of bytes that each pump of a race had moved when the first one finished.
    private var standings: [Int] = []

    /// - Parameter ends: of a socket pair.
    init(loop: EventLoop, ends: (Int32, Int32)) {
        self.loop = loop
        other = ends.1
        quiet = ByteStream(
            wire: SocketWire(descriptor: ends.0),
            readiness: Readiness(descriptor: ends.0, loop: loop), loop: loop)
    }

    func close() { quiet.close() }

    /// Has a byte for the other connection, and the end of a timer, ready when a pump begins.
    func progress(beside pump: Pump) async -> Progress {
        let wire = wire(for: pump)
        var progress = Progress()
        let timer = LoopTimer(loop: loop) { progress.movedAtTimer = wire.moved }
        let waiting = loop.startTask { [self] in
            _ = try? await quiet.fill(within: .zero)
            return (wire.moved, requests)
        }
        await quiet.yield()  // it waits then
        precondition(send(other, "x", 1, 0) == 1)
        timer.set(after: .zero)
        try? await run(pump, over: wire)
        (progress.movedAtEvent, progress.requestsAtEvent) = await waiting.value
        return progress
    }

    /// Closes a connection while it has yielded.
    ///
    /// - Returns: how its pump ended, and how many bytes it had moved.
    func outcomeOfClosing(_ pump: Pump) async -> (failure: StreamError?, moved: Int) {
        let wire = wire(for: pump)
        let stream = stream(over: wire)
        let closing = loop.startTask { [self] in
            _ = try? await quiet.fill(within: .zero)
            stream.close()
        }
        await quiet.yield()
        precondition(send(other, "x", 1, 0) == 1)
        var failure: StreamError?
        do throws(StreamError) { try await run(pump, on: stream, over: wire) } catch { failure = error }
        await closing.value
        return (failure, wire.moved)
    }

    /// Runs some pumps at once until one is done.
    ///
    /// - Returns: how many bytes each had moved by then.
    func race(_ pump: Pump, count: Int) async -> [Int] {
        let wires = (0..<count).map { _ in wire(for: pump) }
        let tasks = wires.map { wire in
            loop.startTask { [self] in
                try? await run(pump, over: wire)
                if standings.isEmpty { standings = wires.map(\.moved) }
            }
        }
        for task in tasks { await task.value }
        return standings
    }

    private func wire(for pump: Pump) -> EndlessWire {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        return switch pump {
        case .receiving, .sending, .forwarding, .lingering: EndlessWire(rest: "x")
        case .requests: EndlessWire(rest: "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        case .chunks, .collecting: EndlessWire(first: head, rest: "1\r\nx\r\n")
        }
    }

    private func stream(over wire: EndlessWire) -> ByteStream {
        ByteStream(wire: wire, readiness: Readiness(descriptor: -1, loop: loop), loop: loop)
    }

    private func connection(on stream: ByteStream) -> ServerConnection {
        ServerConnection(
            stream: stream, peer: .unknown, limits: HeadLimits(), timeouts: ServerTimeouts())
    }

    private func run(_ pump: Pump, over wire: EndlessWire) async throws {
        let stream = stream(over: wire)
        let connection = connection(on: stream)
        defer { stream.close() }
        switch pump {
        case .receiving, .sending, .forwarding:
            try await run(pump, on: stream, over: wire)
        case .requests:
            while requests < 10_000, try await connection.receiveHead() { requests += 1 }
        case .chunks:
            let body = try await beginBody(on: connection)
            while try await body.nextPiece(within: .zero) != nil { body.consumePiece() }
        case .collecting:
            _ = try await beginBody(on: connection).collect(until: nil)
        case .lingering:
            await connection.lingerAndClose()
        }
    }

    private func run(
        _ pump: Pump, on stream: ByteStream, over wire: EndlessWire
    ) async throws(StreamError) {
        switch pump {
        case .receiving:
            while try await stream.fill(within: .zero, capacity: StoragePool.large) {
                stream.input.consume(stream.input.count)
            }
        case .sending:
            try await stream.write([UInt8](repeating: 0, count: EndlessWire.end), within: .zero)
        case .forwarding, .requests, .chunks, .collecting, .lingering:
            let (source, sink) = (MessageBody(stream: stream), MessageWriter(stream: stream))
            source.begin(.untilClose)
            while try await hasPiece(source) { try await sink.send(pieceOf: source, within: .zero) }
        }
    }

    private func hasPiece(_ source: MessageBody) async throws(StreamError) -> Bool {
        do {
            return try await source.nextPiece(within: .zero) != nil
        } catch .stream(let failure) {
            throw failure
        } catch {
            throw .closed
        }
    }

    private func beginBody(on connection: ServerConnection) async throws -> MessageBody {
        guard try await connection.receiveHead() else { throw StreamError.closed }
        _ = try connection.beginBody(limit: 1 << 20)
        return connection.incoming
    }
}
