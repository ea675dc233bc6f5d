// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import Glibc
import Testing

/// Streams on a loop, one after another.
private actor Streams: LoopConfined {
    nonisolated let loop: EventLoop
    private var known: [ByteStream] = []

    init(loop: EventLoop) { self.loop = loop }

    /// Makes a stream that has received and sent something, of which some is unread.
    private func used(_ descriptor: Int32) async throws -> ByteStream {
        let stream = ByteStream.make(on: descriptor, loop: loop)
        _ = try await stream.fill(within: .seconds(30))
        try await stream.write(Array("sent".utf8), within: .seconds(30))
        stream.endFollows()
        stream.readiness.onEdge = { Issue.record("an edge of another connection") }
        return stream
    }

    /// Uses a stream up, and keeps it for the next connection.
    func useUp(_ descriptor: Int32) async throws -> ObjectIdentifier {
        var stream = try await used(descriptor)
        let identity = ObjectIdentifier(stream)
        stream.close()
        ByteStream.keepSpare(&stream)
        return identity
    }

    /// Uses one up that somebody else knows.
    func useUpKnown(_ descriptor: Int32) async throws -> ObjectIdentifier {
        var stream = try await used(descriptor)
        known.append(stream)
        stream.close()
        ByteStream.keepSpare(&stream)
        return ObjectIdentifier(stream)
    }

    /// Leaves one open.
    func leaveOpen(_ descriptor: Int32) async throws -> ObjectIdentifier {
        var stream = try await used(descriptor)
        let identity = ObjectIdentifier(stream)
        ByteStream.keepSpare(&stream)
        known.append(stream)
        return identity
    }

    /// Makes a stream and says all that it has of an earlier connection, which is nothing.
    func makeNext(_ descriptor: Int32) async throws -> ObjectIdentifier {
        let stream = ByteStream.make(on: descriptor, loop: loop)
        let (isOpen, isEmpty, readiness) = (stream.isOpen, stream.input.isEmpty, stream.readiness)
        #expect(isOpen && isEmpty && stream.bytesReceived == 0 && stream.bytesSent == 0)
        #expect(readiness.isReadable && readiness.isWritable && !readiness.peerHasEnded)
        let isHeeded = readiness.onEdge != nil
        #expect(!isHeeded && !stream.endWasTruncated)
        let hasBytes = try await stream.fill(within: .seconds(30))
        #expect(hasBytes)
        let received = stream.input.withReadable { span in span.indices.map { span[$0] } }
        #expect(received == Array("second".utf8) && stream.bytesReceived == 6)
        known.append(stream)
        return ObjectIdentifier(stream)
    }

    func close() {
        for stream in known { stream.close() }
        known = []
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `A spare stream` {
    /// Runs `body` on streams of a loop, with two descriptors that have something to receive.
    private func onLoop(_ body: (Streams, Int32, Int32) async throws -> Void) async throws {
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let streams = Streams(loop: loop)
        let pairs = try ["first", "second"].map { text in
            var ends: [Int32] = [-1, -1]
            try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
            _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
            #expect(send(ends[1], text, text.utf8.count, 0) == text.utf8.count)
            return ends
        }
        try await body(streams, pairs[0][0], pairs[1][0])
        await streams.close()
        pairs.forEach { _ = Glibc.close($0[1]) }
        loop.stop()
        thread.join()
    }

    @Test func `serves the next connection, and has nothing of the one before`() async throws {
        try await onLoop { streams, first, second in
            let one = try await streams.useUp(first)
            let other = try await streams.makeNext(second)
            #expect(one == other)
        }
    }

    @Test func `is none that somebody else knows`() async throws {
        try await onLoop { streams, first, second in
            let one = try await streams.useUpKnown(first)
            let other = try await streams.makeNext(second)
            #expect(one != other)
        }
    }

    @Test func `is none that is open`() async throws {
        try await onLoop { streams, first, second in
            let one = try await streams.leaveOpen(first)
            let other = try await streams.makeNext(second)
            #expect(one != other)
        }
    }
}
