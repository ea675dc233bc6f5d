// SPDX-License-Identifier: Apache-2.0

import BearerdEventLoop
import BearerdHTTPMessages
import BearerdHTTPServer
import Glibc
import Testing

/// A service's answer that goes on until somebody ends it.
@Suite(.timeLimit(.minutes(10))) struct `An answer that goes on` {
    /// Sends a piece each millisecond, and says what ended that.
    private struct Ticker: HTTPResponder {
        private static let patience = Duration.milliseconds(200)

        let ends: AsyncStream<StreamError?>.Continuation

        func judge(_ request: ServiceRequest) async -> ServiceJudgement {
            .answered {
                ServiceReply(
                    head: HTTPResponse(status: 200), body: .stream { writer in try await tick(writer) })
            }
        }

        private func tick(_ writer: ServiceBodyWriter) async throws {
            do {
                while true {
                    try await writer.write(Array(repeating: 0x61, count: 512), within: Self.patience)
                    try await writer.pause(for: .milliseconds(1), whileTakenWithin: Self.patience)
                }
            } catch {
                ends.yield(error as? StreamError)
                throw error
            }
        }
    }

    /// Has a client ask for it.
    ///
    /// - Returns: what ended it.
    private func end(_ client: (Int32) -> Void) async throws -> StreamError? {
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let (ends, told) = AsyncStream<StreamError?>.makeStream()
        let socket = try #require(try ListeningSocket.tcp(host: "127.0.0.1", port: 0, joining: false).first)
        let service = HTTPService(loop: loop, responder: Ticker(ends: told))
        try await service.listen(on: socket)
        let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var size: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = (socket.address?.port ?? 0).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        try #require(isConnected)
        let request = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        try #require(send(descriptor, request, request.utf8.count, 0) == request.utf8.count)
        client(descriptor)
        var first: StreamError?
        for await end in ends {
            first = end
            break
        }
        Glibc.close(descriptor)
        await service.stop()
        socket.close()
        loop.stop()
        thread.join()
        return first
    }

    @Test func `ends for who does not read`() async throws {
        #expect(try await end { _ in } == .timedOut)
    }

    @Test func `ends for who says no more`() async throws {
        #expect(try await end { shutdown($0, Int32(SHUT_WR)) } == .closed)
    }
}
