// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Glibc
import Synchronization
import Testing

/// A socket that says of the second arrival that TLS has to send before it can receive: the first one may come before anybody waits.
private final class AnsweringWire: Wire {
    private let socket: SocketWire
    private var receives = 0

    init(descriptor: Int32) { socket = SocketWire(descriptor: descriptor) }

    var drainsOnShortReceive: Bool { socket.drainsOnShortReceive }
    func receive(into destination: UnsafeMutableRawBufferPointer) -> WireResult {
        if receives == 1 {
            receives = 2
            return .wouldBlockOnWrite
        }
        let result = socket.receive(into: destination)
        if case .moved = result { receives += 1 }
        return result
    }
    func send(_ source: UnsafeRawBufferPointer) -> WireResult { socket.send(source) }
    func endSending() -> WireResult { socket.endSending() }
    func close() { socket.close() }
}

/// Sends back what arrives.
private actor Echo: LoopConfined {
    nonisolated let loop: EventLoop
    private let stream: ByteStream
    /// How many arrivals were sent back, and how often a task was woken for it.
    private(set) var relayed = 0
    private(set) var wakings = 0

    init(loop: EventLoop, wire: some Wire, descriptor: Int32) {
        self.loop = loop
        stream = ByteStream(wire: wire, readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
    }

    /// - Returns: true once the peer has ended.
    func serve(within timeout: Duration) async throws(StreamError) -> Bool {
        while true {
            let hasWaited = try await stream.relay(within: timeout) {
                self.relayed += 1
                return self.sendBack()
            }
            if hasWaited { wakings += 1 }
            guard try stream.receive() != false else { return true }
            _ = sendBack()
        }
    }

    private func sendBack() -> Bool {
        var bytes = stream.input.withReadable { span in span.indices.map { span[$0] } }
        stream.input.consume(bytes.count)
        return (try? stream.flush(&bytes)) ?? false
    }

    func close() { stream.close() }
}

@Suite(.timeLimit(.minutes(10)))
struct `A relay` {
    /// Runs `body` with an echo on a loop of its own and the other end's descriptor.
    private func withEcho<Kind: Wire & SendableMetatype>(
        _ makeWire: @escaping @Sendable (Int32) -> Kind, _ body: (Echo, Int32) async throws -> Void
    ) async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let echo = await Task(executorPreference: loop) { [end = ends[0]] in
            Echo(loop: loop, wire: makeWire(end), descriptor: end)
        }.value
        try await body(echo, ends[1])
        await echo.close()
        close(ends[1])
        loop.stop()
        thread.join()
    }

    private func receives(_ text: String, from other: Int32) -> Bool {
        var limit = timeval(tv_sec: 20, tv_usec: 0)
        setsockopt(other, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var bytes = [UInt8](repeating: 0, count: text.utf8.count)
        return recv(other, &bytes, bytes.count, Int32(MSG_WAITALL)) == bytes.count
            && bytes == Array(text.utf8)
    }

    @Test func `takes what arrives without its task, which the end wakes`() async throws {
        try await withEcho({ SocketWire(descriptor: $0) }) { echo, other in
            async let hasEnd = echo.serve(within: .seconds(60))
            for text in ["first", "second", "third", "fourth"] {
                #expect(send(other, text, text.utf8.count, 0) == text.utf8.count)
                #expect(receives(text, from: other))
            }
            shutdown(other, Int32(SHUT_WR))
            try #require(try await hasEnd)
            // The first may have been there before the wait.
            #expect(await echo.relayed >= 3)
            #expect(await echo.wakings == 1)
        }
    }

    @Test func `leaves much at once to its task`() async throws {
        try await withEcho({ SocketWire(descriptor: $0) }) { echo, other in
            async let hasEnd = echo.serve(within: .seconds(60))
            let text = String(repeating: "0123456789abcdef", count: 2000)
            for _ in 0..<3 {
                #expect(send(other, text, text.utf8.count, 0) == text.utf8.count)
                #expect(receives(text, from: other))
            }
            shutdown(other, Int32(SHUT_WR))
            try #require(try await hasEnd)
            #expect(await echo.wakings >= 3)
        }
    }

    @Test func `goes on where TLS has to send before it can receive`() async throws {
        try await withEcho({ AnsweringWire(descriptor: $0) }) { echo, other in
            async let hasEnd = echo.serve(within: .seconds(60))
            for text in ["first", "second", "third"] {
                #expect(send(other, text, text.utf8.count, 0) == text.utf8.count)
                #expect(receives(text, from: other))
            }
            shutdown(other, Int32(SHUT_WR))
            try #require(try await hasEnd)
        }
    }

    @Test func `ends where nothing arrives for long enough`() async throws {
        try await withEcho({ SocketWire(descriptor: $0) }) { echo, other in
            await #expect(throws: StreamError.timedOut) {
                try await echo.serve(within: .milliseconds(50))
            }
        }
    }

    @Test func `ends where all that arrives is no data`() async throws {
        try await withEcho({ EmptyWire(descriptor: $0) }) { echo, other in
            let hasEnded = Atomic(false)
            let sender = Task.detached {
                while !hasEnded.load(ordering: .relaxed) {
                    send(other, "x", 1, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
                    await Task.yield()
                }
            }
            await #expect(throws: StreamError.timedOut) {
                try await echo.serve(within: .milliseconds(200))
            }
            hasEnded.store(true, ordering: .relaxed)
            await sender.value
        }
    }
}
