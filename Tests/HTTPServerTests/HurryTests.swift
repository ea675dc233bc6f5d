// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPExchange
import BearerdHTTPServer
import Glibc
import Testing

/// A server that ends does not wait for a client that is slow with a head.
@Suite(.timeLimit(.minutes(10))) struct `A server in a hurry` {
    private static let part = "GET / HTTP/1.1\r\nHost: a\r\n"

    /// Runs `body` with a connection without time-outs and the descriptor of its client.
    private func withEnd(_ body: (HeadEnd, Int32) async throws -> Void) async throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let timeouts = ServerTimeouts(header: .zero, idle: .zero)
        let end = await Task(executorPreference: loop) { [descriptor = ends[0]] in
            HeadEnd(loop: loop, descriptor: descriptor, timeouts: timeouts)
        }.value
        try await withTaskExecutorPreference(loop) { try await body(end, ends[1]) }
        await end.close()
        Glibc.close(ends[1])
        loop.stop()
        thread.join()
    }

    private func say(_ text: String, on descriptor: Int32) {
        #expect(send(descriptor, text, text.utf8.count, 0) == text.utf8.count)
    }

    @Test func `has a head that is on its way come in`() async throws {
        try await withEnd { end, client in
            say(Self.part, on: client)
            async let failure = end.failure()
            await end.hurry(behind: UInt64(Self.part.utf8.count), times: 1)
            say("\r\n", on: client)
            #expect(await failure == nil)
        }
    }

    @Test func `gives up a head that does not`() async throws {
        try await withEnd { end, client in
            say(Self.part, on: client)
            async let failure = end.failure()
            await end.hurry(behind: UInt64(Self.part.utf8.count), times: 2)
            #expect(await failure == .headTimedOut)
            #expect(await end.isOpen, "the client is told")
        }
    }

    @Test func `has the rest of a message come in, and gives one up that does not, at once`() async throws {
        let head = Self.part + "Content-Length: 9\r\n\r\n"
        for isWhole in [true, false] {
            try await withEnd { end, client in
                say(head, on: client)
                async let rest = end.skipRest()
                await end.hurry(behind: UInt64(head.utf8.count), times: 0)
                say(isWhole ? "123456789" : "x", on: client)
                if !isWhole { await end.hurry(behind: UInt64(head.utf8.count) + 1, times: 2) }
                let left = try await rest
                #expect(left == (isWhole ? nil : .zero))
            }
        }
    }

    @Test func `leaves the time that there is to a client whose rest is no message`() async throws {
        try await withEnd { end, client in
            say(Self.part + "Transfer-Encoding: chunked\r\n\r\nrubbish\r\n", on: client)
            let left = try await end.skipRest()
            #expect(try #require(left) > .zero)
        }
    }

    @Test func `gives up a client that has its last answer`() async throws {
        try await withEnd { end, client in
            async let lingering: Void = end.linger()
            say("x", on: client)
            await end.hurry(behind: 1, times: 2)
            await lingering
            #expect(await !end.isOpen)
        }
    }
}
