// SPDX-License-Identifier: Apache-2.0

import Glibc
import Testing

@testable import BearerdProxy

@Suite(.timeLimit(.minutes(10))) struct `A keeper of clients' connections` {
    private static let request = "GET / HTTP/1.1\r\nHost: front.example\r\n\r\n"

    private func say(_ text: String, on descriptor: Int32) {
        #expect(send(descriptor, text, text.utf8.count, Int32(MSG_NOSIGNAL)) == text.utf8.count)
    }

    /// Reads until so many answers have ended, or the connection has.
    private func answers(_ count: Int, on descriptor: Int32) -> [String] {
        var text = ""
        var bytes = [UInt8](repeating: 0, count: 4096)
        while text.split(separator: "\r\n\r\nok", omittingEmptySubsequences: false).count <= count {
            let length = recv(descriptor, &bytes, bytes.count, 0)
            guard length > 0 else { break }
            text += String(decoding: bytes.prefix(length), as: UTF8.self)
        }
        return text.split(separator: "\r\n\r\nok").map(String.init)
    }

    private func hasEnded(_ descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, 0) == 0
    }

    @Test func `serves one request after another, pipelined ones too`() async throws {
        try await KeeperStage.play { stage in
            let client = try await stage.connect()
            defer { close(client) }
            await stage.answer(3)
            say(Self.request + Self.request, on: client)
            let first = answers(2, on: client)
            #expect(first.count == 2 && first.allSatisfy { $0.hasPrefix("HTTP/1.1 200 ") })
            say(Self.request, on: client)
            #expect(answers(1, on: client).count == 1)
            #expect(await stage.requestCount == 3)
            #expect(await stage.openConnections == 1)
        }
    }

    @Test func `serves the next connection as if there had been none before`() async throws {
        try await KeeperStage.play { stage in
            for _ in 0..<3 {
                let client = try await stage.connect()
                await stage.answer(1)
                say("GET / HTTP/1.1\r\nHost: front.example\r\nConnection: close\r\n\r\n", on: client)
                #expect(answers(1, on: client).first?.contains("Connection: close") == true)
                #expect(hasEnded(client))
                close(client)
            }
            #expect(await stage.requestCount == 3)
        }
    }

    @Test func `answers what is no request, and ends the connection`() async throws {
        try await KeeperStage.play { stage in
            let client = try await stage.connect()
            defer { close(client) }
            say("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", on: client)
            shutdown(client, Int32(SHUT_WR))
            #expect(answers(1, on: client).first?.hasPrefix("HTTP/1.1 400 ") == true)
            #expect(await stage.requestCount == 0)
        }
    }

    @Test func `ends a drain with the last connection, and answers before that`() async throws {
        try await KeeperStage.play { stage in
            let (idle, busy) = (try await stage.connect(), try await stage.connect())
            defer {
                close(idle)
                close(busy)
            }
            await stage.answer(1)
            say(Self.request, on: idle)
            #expect(answers(1, on: idle).count == 1)
            say(Self.request, on: busy)
            await stage.awaitRequests(2)
            async let drained: Void = stage.drain()
            #expect(hasEnded(idle))
            #expect(await stage.openConnections == 1)
            await stage.answer(1)
            #expect(answers(1, on: busy).first?.contains("Connection: close") == true)
            await drained
            #expect(await stage.openConnections == 0)
        }
    }
}
