// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdSystem
import Glibc
import Synchronization
import Testing

/// Two ends of a socket pair: one on a loop, one that the test reads and writes itself.
private actor Peer: LoopConfined {
    nonisolated let loop: EventLoop
    private let stream: ByteStream

    init(loop: EventLoop, wire: any Wire, descriptor: Int32) {
        self.loop = loop
        stream = ByteStream(
            wire: wire,
            readiness: Readiness(descriptor: descriptor, loop: loop),
            loop: loop)
    }

    func fill(within timeout: Duration) async throws(StreamError) -> Bool {
        try await stream.fill(within: timeout)
    }
    func received() -> [UInt8] {
        let bytes = stream.input.withReadable { span in span.indices.map { span[$0] } }
        stream.input.consume(bytes.count)
        return bytes
    }
    func write(_ bytes: [UInt8], within timeout: Duration) async throws(StreamError) {
        try await stream.write(bytes, within: timeout)
    }
    /// Sends a block, with something behind its end that is no part of it, in one of the ways that there are.
    func send(_ bytes: [UInt8], _ way: SendingOfBlock) async throws(StreamError) {
        var block = ByteBlock()
        let rest = way == .gathered ? bytes.count / 3 : bytes.count
        block.append(bytes.span.extracting(0..<rest))
        block.append([UInt8](repeating: 0xFF, count: 1000).span)
        block.removeLast(1000)
        switch way {
        case .written: try await stream.write(block, within: .seconds(30))
        case .flushed:
            while try !stream.flush(&block) { try await stream.waitForRoom(within: .seconds(30)) }
        case .gathered:
            let (piece, tail) = (Array(bytes[rest..<2 * rest]), Array(bytes[(2 * rest)...]))
            var sent = 0
            while sent < bytes.count {
                let moved = try stream.send(block, piece.span, tail, from: sent)
                if moved == 0 { try await stream.waitForRoom(within: .seconds(30)) }
                sent += moved
            }
        }
    }
    /// Receives, and returns true if the turn is over then.
    func receiveEndsTurn() throws -> Bool {
        _ = try stream.receive()
        return stream.turnIsOver
    }
    func close() { stream.close() }
}

/// A socket whose receives are as much work as a turn may have.
private final class DearWire: Wire {
    private let socket: SocketWire

    init(descriptor: Int32) { socket = SocketWire(descriptor: descriptor) }

    var isEncrypted: Bool { true }
    var workBeside: Int { 1 << 20 }
    var drainsOnShortReceive: Bool { socket.drainsOnShortReceive }
    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        socket.receive(into: destination)
    }
    func send(_ source: UnsafeRawBufferPointer) -> WireResult { socket.send(source) }
    func endSending() -> WireResult { socket.endSending() }
    func close() { socket.close() }
}

/// A socket of whose bytes none are data, as of records of TLS without any.
final class EmptyWire: Wire {
    private let socket: SocketWire

    init(descriptor: Int32) { socket = SocketWire(descriptor: descriptor) }

    var drainsOnShortReceive: Bool { socket.drainsOnShortReceive }
    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        while true {
            let result = socket.receive(into: destination)
            guard case .moved = result else { return result }
        }
    }
    func send(_ source: UnsafeRawBufferPointer) -> WireResult { socket.send(source) }
    func endSending() -> WireResult { socket.endSending() }
    func close() { socket.close() }
}

private enum WireKind { case plain, dear, empty }

enum SendingOfBlock: CaseIterable { case written, flushed, gathered }

@Suite(.timeLimit(.minutes(10)))
struct `A byte stream` {
    /// Runs `body` with a stream on a loop of its own and the other end's descriptor.
    private func withPair(
        _ kind: WireKind = .plain, _ body: (Peer, Int32) async throws -> Void
    ) async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        // Made on the loop's thread, where its events live.
        let peer = await Task(executorPreference: loop) { [end = ends[0]] in
            let wire: any Wire =
                switch kind {
                case .plain: SocketWire(descriptor: end)
                case .dear: DearWire(descriptor: end)
                case .empty: EmptyWire(descriptor: end)
                }
            return Peer(loop: loop, wire: wire, descriptor: end)
        }.value
        try await body(peer, ends[1])
        await peer.close()
        close(ends[1])
        loop.stop()
        thread.join()
    }

    @Test func `bytes that are no data do not keep a wait from its end`() async throws {
        try await withPair(.empty) { peer, other in
            let hasEnded = Atomic(false)
            let sender = Task.detached {
                while !hasEnded.load(ordering: .relaxed) {
                    send(other, "x", 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                    await Task.yield()
                }
            }
            await #expect(throws: StreamError.timedOut) { try await peer.fill(within: .milliseconds(200)) }
            hasEnded.store(true, ordering: .relaxed)
            await sender.value
        }
    }

    @Test func `bytes that arrive while somebody waits wake it`() async throws {
        try await withPair { peer, other in
            async let filled = peer.fill(within: .seconds(30))
            #expect(send(other, "hello", 5, 0) == 5)
            let hasBytes = try await filled
            #expect(hasBytes)
            #expect(await peer.received() == Array("hello".utf8))
        }
    }

    @Test(arguments: [false, true])
    func `a receive costs its work beside the bytes, too`(isDear: Bool) async throws {
        try await withPair(isDear ? .dear : .plain) { peer, other in
            #expect(send(other, "hello", 5, 0) == 5)
            let endsTurn = try await peer.receiveEndsTurn()
            #expect(endsTurn == isDear)
        }
    }

    @Test func `an end is told after the bytes before it`() async throws {
        try await withPair { peer, other in
            #expect(send(other, "x", 1, 0) == 1)
            shutdown(other, Int32(SHUT_WR))
            let hasBytes = try await peer.fill(within: .seconds(30))
            #expect(hasBytes)
            #expect(await peer.received() == [UInt8(ascii: "x")])
            let hasMore = try await peer.fill(within: .seconds(30))
            #expect(!hasMore)
        }
    }

    @Test func `a wait ends at its time-out, and the stream goes on`() async throws {
        try await withPair { peer, other in
            await #expect(throws: StreamError.timedOut) { try await peer.fill(within: .milliseconds(20)) }
            #expect(send(other, "y", 1, 0) == 1)
            let hasBytes = try await peer.fill(within: .seconds(30))
            #expect(hasBytes)
        }
    }

    /// Reads so many bytes, or up to the end, on a thread of its own.
    private func reading(_ count: Int, from other: Int32) -> Task<[UInt8], Never> {
        Task.detached {
            var read: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            while read.count < count {
                let received = recv(other, &buffer, buffer.count, 0)
                guard received > 0 else { break }
                read += buffer[..<received]
            }
            return read
        }
    }

    @Test func `a writer waits for a slow reader and loses nothing`() async throws {
        try await withPair { peer, other in
            let bytes = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
            async let written: Void = peer.write(bytes, within: .seconds(30))
            let reader = reading(bytes.count, from: other)
            try await written
            #expect(await reader.value == bytes)
        }
    }

    @Test(arguments: SendingOfBlock.allCases)
    func `a slow reader gets all of a block, and nothing else`(way: SendingOfBlock) async throws {
        try await withPair { peer, other in
            let bytes = [UInt8]((0..<3_000_000).map { UInt8(truncatingIfNeeded: ($0 &* 31) % 251) })
            async let written: Void = peer.send(bytes, way)
            let reader = reading(bytes.count, from: other)
            try await written
            #expect(await reader.value == bytes)
            var one: UInt8 = 0
            #expect(recv(other, &one, 1, Int32(MSG_DONTWAIT)) == -1)
        }
    }

    @Test func `a reader that takes nothing is given up on`() async throws {
        try await withPair { peer, _ in
            let bytes = [UInt8](repeating: 1, count: 8_000_000)
            await #expect(throws: StreamError.timedOut) {
                try await peer.write(bytes, within: .milliseconds(50))
            }
        }
    }

    @Test func `closing wakes whoever waits`() async throws {
        try await withPair { peer, _ in
            let waiting = Task { () -> StreamError? in
                do throws(StreamError) {
                    _ = try await peer.fill(within: .zero)
                    return nil
                } catch {
                    return error
                }
            }
            await Task.yield()
            await peer.close()
            #expect(await waiting.value == .closed)
        }
    }
}
