// SPDX-License-Identifier: Apache-2.0

import EventLoop
import Glibc
import TestSupport
import Testing

/// A listener on a loop, which closes what it accepts.
private actor Host: LoopConfined {
    nonisolated let loop: EventLoop
    nonisolated let socket: ListeningSocket
    private var listener: Listener?

    init(_ socket: ListeningSocket, loop: EventLoop) {
        self.loop = loop
        self.socket = socket
    }

    func listen() {
        listener = Listener(socket, loop: loop, filtersSilence: true) { stream, _ in stream.close() }
    }

    func takeInSilent() -> Bool { listener?.takeInSilent() ?? false }

    func close() { listener?.close() }

    /// Whether the kernel keeps silent connections back.
    nonisolated var keepsBack: Bool {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_DEFER_ACCEPT, &value, &size)
        return value != 0
    }
}

/// The tests have threads of their own: what blocks must not be on the loop's.
@Suite(.blocking) struct SilenceFilterTests {
    private func withHost(_ body: (Host, Address) throws -> Void) throws {
        let sockets = try ListeningSocket.tcp(host: "127.0.0.1", port: 0, joining: false)
        let socket = try #require(sockets.first)
        let port = try #require(socket.address?.port)
        let loop = try EventLoop(name: "test")
        let thread = try loop.start()
        let host = Host(socket, loop: loop)
        try ask(host) { $0.listen() }
        try body(host, .tcp(port: port))
        try ask(host) { $0.close() }
        socket.close()
        loop.stop()
        thread.join()
    }

    private func ask<Answer: Sendable>(
        _ host: Host, _ question: @escaping @Sendable (isolated Host) -> Answer
    ) throws -> Answer {
        let answer = Monitor<Answer?>(nil)
        Task {
            let given = await question(host)
            answer.withLock { $0 = given }
        }
        return try answer.wait(for: "the loop's answer") { $0 }
    }

    /// Connects until the kernel keeps back.
    private func storm(_ host: Host, at address: Address) throws {
        try eventually("silent connections to be kept back") {
            for _ in 0..<200 { _ = try Socket.connected(to: address) }
            return host.keepsBack
        }
    }

    @Test func `silent connections are kept back only while very many come`() throws {
        try withHost { host, address in
            for _ in 0..<100 { _ = try Socket.connected(to: address) }
            #expect(!host.keepsBack)
            try storm(host, at: address)
            try eventually("the storm to be over") { !host.keepsBack }
            #expect(try !ask(host) { $0.takeInSilent() })
        }
    }

    @Test func `a drain is told of those that may still come`() throws {
        try withHost { host, address in
            #expect(try !ask(host) { $0.takeInSilent() })
            try storm(host, at: address)
            #expect(try ask(host) { $0.takeInSilent() })
            #expect(!host.keepsBack)
        }
    }
}
