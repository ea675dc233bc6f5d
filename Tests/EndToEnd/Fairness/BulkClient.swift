// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport

/// A client that gives a worker more to do than it can, until it is told to stop.
enum BulkClient: CaseIterable, Sendable {
    case upload, smallChunks, download, answerInSmallChunks, tunnelUp, tunnelDown, refused, pipelined

    /// Counts the bytes of its connections, where they are sent or where responses arrive.
    final class Progress: Sendable {
        private let moved = Monitor(0)
        private let limit: Int

        init(limit: Int) { self.limit = limit }

        /// Ends those that go on.
        func stop() { moved.withLock { $0 = .max / 2 } }

        var hasReachedLimit: Bool { moved.withLock { $0 } >= limit }

        /// - Returns: whether to go on.
        func add(_ count: Int) -> Bool {
            moved.withLock { moved in
                moved += count
                return moved < limit
            }
        }

        func awaitBegin() throws {
            try moved.wait(for: "the bulk to move") { $0 > 0 ? () : nil }
        }
    }

    /// More bytes than anybody else waits for; a worker that serves only these connections reaches it.
    var limit: Int {
        switch self {
        case .upload, .download, .tunnelUp, .tunnelDown: 6 << 30
        case .smallChunks, .answerInSmallChunks: 256 << 20
        case .refused, .pipelined: 32 << 20
        }
    }

    private static let block = [UInt8](repeating: 7, count: 1 << 18)
    private static let chunks = Array(String(repeating: "8\r\nabcdefgh\r\n", count: 8192).utf8)

    /// Serves connections of such clients, and of others.
    static func upstream(_ progress: Progress) throws -> RawUpstream {
        try RawUpstream(script: { wire in
            while let head = try wire.readHead() {
                switch head.target {
                case "/upload", "/smallChunks":
                    _ = try wire.drain()
                case "/download":
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: \(1 << 40)\r\n\r\n")
                    try send(block, to: wire, progress)
                case "/answerInSmallChunks":
                    try wire.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
                    try send(chunks, to: wire, progress)
                case "/tunnelUp", "/tunnelDown":
                    try wire.grantWebSocket()
                    if head.target == "/tunnelDown" { try send(block, to: wire, progress) }
                    _ = try wire.drain()
                default:
                    try wire.send("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
                }
            }
        })
    }

    /// Gives a connection to bearerd something to do; returns when it has ended.
    func run(on stream: any ByteStream, host: String, _ progress: Progress) throws {
        let target = "/\(self)"
        let wire = Wire(stream)
        switch self {
        case .upload, .smallChunks:
            let framing = self == .upload ? "Content-Length: \(1 << 40)" : "Transfer-Encoding: chunked"
            try wire.send("POST \(target) HTTP/1.1\r\nHost: \(host)\r\n\(framing)\r\n\r\n")
            try Self.send(self == .upload ? Self.block : Self.chunks, to: wire, progress)
        case .download, .answerInSmallChunks:
            try wire.send("GET \(target) HTTP/1.1\r\nHost: \(host)\r\n\r\n")
            try Self.take(from: stream, progress) { _ in 0 }
        case .tunnelUp, .tunnelDown:
            try wire.send(
                "GET \(target) HTTP/1.1\r\nHost: \(host)\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
            )
            guard self == .tunnelUp else { return try Self.take(from: stream, progress) { _ in 0 } }
            _ = try wire.readHead()
            try Self.send(Self.block, to: wire, progress)
        case .refused, .pipelined:
            let name = self == .refused ? "other.example" : host
            let requests = Array(
                String(repeating: "GET / HTTP/1.1\r\nHost: \(name)\r\n\r\n", count: 1000).utf8)
            let reader = Background { try Self.take(from: stream, progress) { $0 } }
            while (try? wire.send(requests)) != nil, !reader.isFinished {}
            stream.close()
            try? reader.value()
        }
    }

    private static func send(_ block: [UInt8], to wire: Wire, _ progress: Progress) throws {
        repeat { try wire.send(block) } while progress.add(block.count)
        wire.close()
    }

    private static func take(
        from stream: any ByteStream, _ progress: Progress, counting count: (Int) -> Int
    ) throws {
        while true {
            let bytes = try stream.read(upTo: 1 << 18, within: patience)
            guard !bytes.isEmpty, progress.add(count(bytes.count)) else { return stream.close() }
        }
    }
}
