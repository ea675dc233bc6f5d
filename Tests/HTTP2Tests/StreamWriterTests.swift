// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTP2
import BearerdHTTP2Streams
import BearerdHTTPMessages
import BearerdSystem
import BearerdTestSupport
import Glibc
import Testing

/// One side of a connection, on a loop of its own; its peer has sent nothing yet and takes what a socket holds.
private actor ConnectionSide: LoopConfined {
    nonisolated let loop: EventLoop
    private let connection: HTTP2Connection

    init?(_ role: HTTP2Session.Role, on loop: EventLoop, over descriptor: Int32) {
        guard let session = HTTP2Session(role, limits: HTTP2Limits()) else { return nil }
        self.loop = loop
        let stream = ByteStream(
            wire: SocketWire(descriptor: descriptor),
            readiness: Readiness(descriptor: descriptor, loop: loop), loop: loop)
        connection = HTTP2Connection(stream, session, on: loop, patience: .zero)
    }

    private static var post: HTTPRequest {
        HTTPRequest(method: .post, target: "/", fields: HTTPFields(("Host", "example.com")))
    }

    private func writer(_ length: BodyLength) -> (StreamHandle, StreamWriter) {
        let handle = StreamHandle(HTTP2Stream(), on: connection)
        let writer = StreamWriter(of: handle)
        var post = Self.post
        writer.begin(&post, scheme: .http, takesTrailers: false, tunnel: nil, length: length)
        return (handle, writer)
    }

    /// Gives a request with a body of each of these lengths to the connection.
    ///
    /// - Returns: for each, what ``StreamWriter/flush()`` says, and how much has to wait.
    func flushed(bodiesOf lengths: [Int]) throws -> [(isGone: Bool, waiting: Int)] {
        try lengths.map { length in
            let (handle, writer) = writer(.exact(UInt64(length)))
            writer.append([UInt8](repeating: 0, count: length))
            return (try writer.flush(), handle.stream.unsentCount)
        }
    }

    /// Sends a request, and then its end without another flush.
    func sendEndAlone() async throws {
        _ = loop.startTask { await self.connection.run() }
        let (handle, writer) = writer(.open)
        writer.append([1])
        try await writer.flush(within: .zero)
        try await eventually("the content to go out") { !connection.session.hasOutput }
        writer.end(trailers: HTTPFields())
        try await eventually("the end to go out") { handle.stream.hasSentEnd }
    }

    /// Sends interim heads to a client, and lets it have them once one has to wait.
    ///
    /// - Returns: how many were sent by then.
    func interimsBeforeWait(of count: Int) async throws -> Int {
        var new: HTTP2Stream?
        connection.onStream = { new = $0 }
        let request = HTTP2Frame.head(FramePeer.get, stream: 1)
        let bytes = HTTP2Frame.preface + HTTP2Frame.settings().bytes + request.bytes
        connection.session.receive(bytes.span, at: .now)
        connection.dispatch()
        let stream = try #require(new)
        let served = ServerStream(stream, on: connection, from: .unknown)
        let sending = loop.startTask {
            for _ in 0..<count {
                var head = HTTPResponse(status: 103)
                try? await served.send(interim: &head, within: .zero)
                self.sent += 1
            }
        }
        try await eventually("a head to wait") { stream.isAwaited }
        let before = sent
        _ = loop.startTask { await self.connection.run() }
        await sending.value
        #expect(sent == count && stream.interimCount <= before)
        served.conclude()
        return before
    }

    private var sent = 0

    /// Serves a stream whose request gets a token, until it is over.
    func requestLeft(bySecret secret: String) -> HTTPRequest {
        let served = ServerStream(HTTP2Stream(), on: connection, from: .unknown)
        served.request = Self.post
        served.request.target = "/?key=\(secret)"
        served.request.fields[.authorization] = "Bearer \(secret)"
        served.conclude()
        return served.request
    }

    private func eventually(_ what: String, _ condition: () -> Bool) async throws {
        let deadline = ContinuousClock.now + patience
        while !condition() {
            guard ContinuousClock.now < deadline else { throw NeverHappened(what: what) }
            await loop.pause(for: .milliseconds(1))
        }
    }

    func close() { connection.close() }
}

private struct NeverHappened: Error {
    let what: String
}

@Suite struct `Writers of HTTP2 streams` {
    private func with<Result: Sendable>(
        _ role: HTTP2Session.Role, _ body: (ConnectionSide) async throws -> Result
    ) async throws -> Result {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        defer {
            Glibc.close(ends[1])
            loop.stop()
            thread.join()
        }
        // Made on the loop's thread, where its events live.
        let side = await Task(executorPreference: loop) { [end = ends[0]] in
            ConnectionSide(role, on: loop, over: end)
        }.value
        let made = try #require(side)
        let result = try await body(made)
        await made.close()
        return result
    }

    @Test func `a body has gone out when it is framed, and not when its own window would take it`()
        async throws
    {
        let bodies = try await with(.client) { try await $0.flushed(bodiesOf: [40_000, 40_000]) }
        #expect(bodies.map(\.isGone) == [true, false])
        #expect(bodies.map(\.waiting) == [0, 80_000 - 65_535])
    }

    @Test func `small bodies have as good as gone out, and are framed together`() async throws {
        let bodies = try await with(.client) { try await $0.flushed(bodiesOf: [10_000, 10_000, 20_000]) }
        #expect(bodies.map(\.isGone) == [true, true, true])
        // The last one is more than is promised: all are framed.
        #expect(bodies.map(\.waiting) == [10_000, 10_000, 0])
    }

    @Test func `interim heads wait for a client that takes none`() async throws {
        #expect(try await with(.server) { try await $0.interimsBeforeWait(of: 64) } == 8)
    }

    @Test func `an end goes out without another flush`() async throws {
        try await with(.client) { try await $0.sendEndAlone() }
    }

    @Test func `nothing of a request that got a token is left in memory behind it`() async throws {
        let left = try await with(.server) { await $0.requestLeft(bySecret: "secret") }
        #expect(left.fields.isEmpty && left.targetBytes.allSatisfy { $0 == 0 })
        #expect(!left.fields.block.bytes.isEmpty && left.fields.block.bytes.allSatisfy { $0 == 0 })
    }
}
