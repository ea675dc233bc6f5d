// SPDX-License-Identifier: Apache-2.0

/// A resource server that speaks HTTP/2 frame by frame: what it does with a stream is the test's affair.
///
/// It answers SETTINGS and PING, and opens windows for what it receives unless it is told not to.
package final class HTTP2Upstream: Sendable {
    /// What has come on one stream, of whichever connection.
    package struct Stream: Sendable {
        /// The number of its connection, from 1.
        package let connection: Int
        package let id: UInt32
        /// Pseudo-fields too, in the order in which they came.
        package var fields: [(name: String, value: String)] = []
        package var content: [UInt8] = []
        package var trailers: [(name: String, value: String)] = []
        package var hasEnd = false
        package var resetCode: UInt32?

        package subscript(name: String) -> String? { fields.first { $0.name == name }?.value }
        package var text: String { String(decoding: content, as: UTF8.self) }
    }

    /// What has just come of a stream.
    package enum Event: Sendable {
        /// Its head; perhaps its end with it.
        case head
        /// Its end, where that was not in the head.
        case end
        case content
        case reset
    }

    package typealias Serve = @Sendable (Peer, Event, Stream) throws -> Void

    private let server: RawServer
    private let record: Monitor<[Stream]>
    private let pings: Monitor<Int>
    private let isSecure: Bool

    /// - Parameters:
    ///   - settings: the first that it sends.
    ///   - opensWindows: whether it takes all that comes.
    ///   - speaksFirst: whether its SETTINGS go before the client's preface has come, as servers over TLS do.
    ///   - admit: called with the number of a connection before anything is sent on it.
    ///   - greet: sends what comes right behind the first SETTINGS.
    ///   - serve: called for what comes, in order, on the connection's thread.
    package init(
        tls: TLSServer? = nil, settings: [(UInt16, UInt32)] = [], opensWindows: Bool = true,
        speaksFirst: Bool = false, admit: @escaping @Sendable (Int) throws -> Void = { _ in },
        greet: @escaping @Sendable (Peer) throws -> Void = { _ in },
        serve: @escaping Serve
    ) throws {
        let record = Monitor([Stream]())
        let connections = Monitor(0)
        let pings = Monitor(0)
        self.record = record
        self.pings = pings
        isSecure = tls != nil
        server = try RawServer(tls: tls) { wire in
            let number = connections.withLock { count in
                count += 1
                return count
            }
            let peer = Peer(wire, number, record, pings, opensWindows: opensWindows, serve)
            try admit(number)
            try peer.run(settings, speaksFirst: speaksFirst, greet)
        }
    }

    /// As it stands in a route's `upstream`.
    package var url: String {
        isSecure ? "https://localhost:\(server.address.port)" : "http://127.0.0.1:\(server.address.port)"
    }

    /// Every stream so far.
    package var streams: [Stream] { record.withLock { $0 } }

    /// How many PINGs have come, and were answered.
    package var pingCount: Int { pings.withLock { $0 } }

    package var connectionCount: Int { server.connectionCount }

    package func awaitNoConnections() throws { try server.awaitNoConnections() }

    /// Waits until a stream is as described, and returns it.
    @discardableResult
    package func stream(
        _ what: String, within limit: Duration = patience,
        where isMet: @Sendable @escaping (Stream) -> Bool
    ) throws -> Stream {
        try record.wait(for: what, within: limit) { $0.first(where: isMet) }
    }

    /// One connection.
    package final class Peer: @unchecked Sendable {
        // Reading is one thread's; what is sent is guarded by `sending`.
        private let wire: Wire
        private let number: Int
        private let record: Monitor<[Stream]>
        private let pings: Monitor<Int>
        private let opensWindows: Bool
        private let serve: Serve
        private let sending = Monitor(())
        /// How much content bearerd has allowed so far, by stream; 0 for the connection.
        private let allowed = Monitor<[UInt32: Int]>([0: 65_535])
        private let reader = HPACK.Reader()
        private var bytes: [UInt8] = []

        fileprivate init(
            _ wire: Wire, _ number: Int, _ record: Monitor<[Stream]>, _ pings: Monitor<Int>,
            opensWindows: Bool, _ serve: @escaping Serve
        ) {
            self.wire = wire
            self.number = number
            self.record = record
            self.pings = pings
            self.opensWindows = opensWindows
            self.serve = serve
        }

        /// Sends frames, right or wrong.
        package func send(_ frames: HTTP2Frame...) throws { try send(frames) }

        package func send(_ frames: [HTTP2Frame]) throws {
            try sending.withLock { _ in try wire.send(frames.flatMap(\.bytes)) }
        }

        /// Sends a whole answer.
        package func answer(
            _ stream: UInt32, _ status: Int = 200, _ fields: [(String, String)] = [], text: String = ""
        ) throws {
            let head = HTTP2Frame.head(
                [(":status", "\(status)")] + fields, stream: stream, endsStream: text.isEmpty)
            if text.isEmpty { return try send(head) }
            try send(head, .data(text, stream: stream, endsStream: true))
        }

        /// Says which stream is the last.
        package func goAway(lastStream: UInt32) throws {
            try send(HTTP2Frame(.goaway, HTTP2Frame.bytes(of: lastStream, 4) + HTTP2Frame.bytes(of: 0, 4)))
        }

        /// Changes the keys of TLS so many times.
        package func updateKeys(_ times: Int) throws {
            try sending.withLock { _ in try wire.updateKeys(times) }
        }

        /// Ends the connection.
        package func close() { wire.close() }

        /// How much content bearerd has allowed the stream so far, in bytes.
        package func allowance(of stream: UInt32) -> Int {
            allowed.withLock { $0[stream] ?? Self.initialWindow }
        }

        /// What a stream may be sent at first: what bearerd's SETTINGS say, as a rule.
        private static let initialWindow = 65_535

        /// Sends so much content and the end of a stream, on a thread of its own, as far as windows allow.
        package func send(_ count: Int, on stream: UInt32) {
            startThread { [self] in
                var sent = 0
                while sent < count {
                    // Without its type the closure's nil would be taken for a result.
                    let room: Int? = try? allowed.wait(for: "the window of stream \(stream)") {
                        (windows: inout [UInt32: Int]) -> Int? in
                        let room = min(windows[stream] ?? Self.initialWindow, windows[0] ?? 0) - sent
                        return room > 0 ? room : nil
                    }
                    guard let room else { return }
                    let size = min(room, count - sent, 16_384)
                    sent += size
                    let frame = HTTP2Frame(
                        .data, flags: sent == count ? HTTP2Frame.endStream : 0, stream: stream,
                        [UInt8](repeating: 0x78, count: size))
                    do { try send(frame) } catch { return }
                }
            }
        }

        fileprivate func run(
            _ settings: [(UInt16, UInt32)], speaksFirst: Bool, _ greet: @Sendable (Peer) throws -> Void
        ) throws {
            if speaksFirst { try send(.settings(settings)) }
            guard try wire.read(exactly: HTTP2Frame.preface.count) == HTTP2Frame.preface else {
                throw WireError("no preface of HTTP/2")
            }
            if !speaksFirst { try send(.settings(settings)) }
            try greet(self)
            while true {
                while let frame = HTTP2Frame.take(from: &bytes) { try take(frame) }
                let more = try wire.readSome()
                if more.isEmpty { return }
                bytes += more
            }
        }

        private func take(_ frame: HTTP2Frame) throws {
            switch frame.kind {
            case .settings where !frame.has(HTTP2Frame.acknowledgement): try send(.settingsAcknowledgement)
            case .ping where !frame.has(HTTP2Frame.acknowledgement):
                pings.withLock { $0 += 1 }
                try send(HTTP2Frame(.ping, flags: HTTP2Frame.acknowledgement, frame.payload))
            case .headers:
                guard frame.has(HTTP2Frame.endHeaders), let fields = reader.fields(of: frame.payload) else {
                    throw WireError("a head in several frames, or none")
                }
                let isNew = !record.withLock {
                    $0.contains { $0.id == frame.stream && $0.connection == number }
                }
                if isNew { record.withLock { $0.append(Stream(connection: number, id: frame.stream)) } }
                let stream = change(frame.stream) { stream in
                    if isNew { stream.fields = fields } else { stream.trailers = fields }
                    stream.hasEnd = frame.has(HTTP2Frame.endStream)
                }
                try serve(self, isNew ? .head : .end, stream)
            case .data:
                let stream = change(frame.stream) { stream in
                    stream.content += frame.payload
                    stream.hasEnd = frame.has(HTTP2Frame.endStream)
                }
                if opensWindows, !frame.payload.isEmpty {
                    let count = UInt32(frame.payload.count)
                    try send(.windowUpdate(count), .windowUpdate(count, stream: frame.stream))
                }
                if !frame.payload.isEmpty {
                    var begun = stream
                    begun.hasEnd = false  // the end is told by itself
                    try serve(self, .content, begun)
                }
                if stream.hasEnd { try serve(self, .end, stream) }
            case .windowUpdate:
                let increment = Int(frame.number())
                allowed.withLock { $0[frame.stream] = ($0[frame.stream] ?? Self.initialWindow) + increment }
            case .resetStream:
                let stream = change(frame.stream) { $0.resetCode = frame.number() }
                try serve(self, .reset, stream)
            default: break
            }
        }

        private func change(_ id: UInt32, _ body: (inout Stream) -> Void) -> Stream {
            record.withLock { streams in
                guard let index = streams.lastIndex(where: { $0.id == id && $0.connection == number }) else {
                    return Stream(connection: number, id: id)
                }
                body(&streams[index])
                return streams[index]
            }
        }
    }
}
