// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTP1
import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdHTTPServer
import Glibc
import Testing

/// How a connection ends in the middle of a request and of its answer.
enum SuddenEnd: CaseIterable { case closed, reset, unfinished }

/// One connection object that serves one client after another.
private actor Seat: LoopConfined {
    nonisolated let loop: EventLoop
    private var connection: ServerConnection?

    init(loop: EventLoop) { self.loop = loop }

    /// Begins with the next client.
    func begin(_ descriptor: Int32) {
        let stream = ByteStream.make(on: descriptor, loop: loop)
        guard let connection else {
            connection = ServerConnection(
                stream: stream, peer: .unknown, limits: HeadLimits(),
                timeouts: ServerTimeouts())
            return
        }
        connection.begin(stream, from: .unknown)
    }

    /// Reads half of a request's content, keeps some of the answer's, and ends the connection.
    func breakOff(_ end: SuddenEnd) async throws {
        guard let connection else { return }
        let hasHead = try await connection.receiveHead()
        #expect(hasHead)
        _ = try connection.beginBody(limit: .max)
        _ = try await connection.incoming.nextPiece(within: .seconds(30), sparingly: false)
        #expect(connection.incoming.byteCount == 3 && !connection.incoming.isFinished)
        var head = HTTPResponse(status: 200)
        connection.begin(&head, length: .open)
        connection.outgoing.append(Array("SECRET".utf8))
        switch end {
        case .closed: connection.close()
        case .reset: connection.stream.abort()
        case .unfinished: await connection.lingerAndClose(within: .milliseconds(10))
        }
    }

    /// Sends an interim response to a client of which nothing is known yet, and says what there is of the one before.
    func greet() async throws {
        guard let connection else { return }
        let (incoming, outgoing) = (connection.incoming, connection.outgoing)
        #expect(incoming.isFinished && incoming.byteCount == 0 && incoming.pieceCount == 0)
        #expect(incoming.trailers.isEmpty && !outgoing.framesEnd && !outgoing.hasSent)
        let hasHead = try await connection.receiveHead()
        #expect(hasHead && connection.persists)
        var head = HTTPResponse(status: 103)
        try await connection.send(interim: &head, within: .seconds(30))
        connection.close()
    }
}

@Suite(.timeLimit(.minutes(10)))
struct `The next connection of a seat` {
    @Test(arguments: SuddenEnd.allCases)
    func `has nothing of the one before, however that ended`(end: SuddenEnd) async throws {
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let seat = Seat(loop: loop)
        // Three times, so that the stream of the first is used again too.
        for _ in 0..<3 {
            let first = try pair()
            say("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", on: first.1)
            await seat.begin(first.0)
            try await seat.breakOff(end)
            let second = try pair()
            say("GET / HTTP/1.1\r\nHost: a\r\n\r\n", on: second.1)
            await seat.begin(second.0)
            try await seat.greet()
            let heard = hear(second.1)
            #expect(heard.hasPrefix("HTTP/1.1 103 ") && !heard.contains("SECRET"))
            Glibc.close(first.1)
            Glibc.close(second.1)
        }
        loop.stop()
        thread.join()
    }

    private func pair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        return (ends[0], ends[1])
    }

    private func say(_ text: String, on descriptor: Int32) {
        #expect(send(descriptor, text, text.utf8.count, 0) == text.utf8.count)
    }

    /// All that comes until the end.
    private func hear(_ descriptor: Int32) -> String {
        var heard: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
            heard += buffer[..<count]
        }
        return String(decoding: heard, as: UTF8.self)
    }
}
