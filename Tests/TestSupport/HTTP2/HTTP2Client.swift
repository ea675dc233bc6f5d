// SPDX-License-Identifier: Apache-2.0

/// A client of one HTTP/2 connection that sends the frames it is told to, right or wrong.
///
/// It answers SETTINGS and PING, opens windows only when it is told, and keeps what comes by stream. One thread uses it.
package final class HTTP2Client {
    /// What has come of one stream.
    package struct Answer {
        package var interim: [[String: String]] = []
        package var head: [String: String] = [:]
        package var content: [UInt8] = []
        package var trailers: [String: String] = [:]
        /// How many heads and trailer sections there were.
        package var blocks = 0
        package var hasEnd = false
        package var resetCode: UInt32?

        package var status: Int { Int(head[":status"] ?? "") ?? 0 }
        package var text: String { String(decoding: content, as: UTF8.self) }
        package var isOver: Bool { hasEnd || resetCode != nil }
    }

    package let wire: Wire
    package private(set) var answers: [UInt32: Answer] = [:]
    /// Every frame that has come.
    package private(set) var frames: [HTTP2Frame] = []
    /// Whether PINGs of the peer are answered.
    package var answersPings = true
    private let reader = HPACK.Reader()
    private var bytes: [UInt8] = []
    private var nextStream: UInt32 = 1
    private let authority: String

    /// Connects, and greets with SETTINGS of these values.
    package convenience init(
        to address: Address, settings: [(UInt16, UInt32)] = [], receiveBuffer: Int32? = nil
    ) throws {
        self.init(
            try Wire(to: address, receiveBuffer: receiveBuffer), authority: Self.authority(of: address))
        try greet(settings)
    }

    /// Connects over TLS, where `h2` is to be agreed on.
    package convenience init(to address: Address, over tls: TLSClient) throws {
        self.init(Wire(try tls.connect(to: address)), authority: "localhost:\(address.port)")
        try greet([])
    }

    /// Speaks on a connection that there is; nothing is sent yet.
    package init(_ wire: Wire, authority: String) {
        self.wire = wire
        self.authority = authority
    }

    package static func authority(of address: Address) -> String {
        switch address {
        case .tcp: "\(address)"
        case .unix: "localhost"
        }
    }

    private func greet(_ settings: [(UInt16, UInt32)]) throws {
        try wire.send(HTTP2Frame.preface + HTTP2Frame.settings(settings).bytes)
    }

    // MARK: Sending

    package func send(_ frames: HTTP2Frame...) throws { try send(frames) }

    package func send(_ frames: [HTTP2Frame]) throws { try wire.send(frames.flatMap(\.bytes)) }

    /// The fields of a request, pseudo-fields first.
    package func fields(
        _ method: String, _ path: String, _ fields: [(String, String)] = []
    ) -> [(String, String)] {
        [(":method", method), (":scheme", "http"), (":authority", authority), (":path", path)] + fields
    }

    /// Begins a request on the next stream, and says which that is.
    @discardableResult
    package func begin(
        _ method: String, _ path: String, _ more: [(String, String)] = [], endsStream: Bool = true
    ) throws -> UInt32 {
        try begin(fields(method, path, more), endsStream: endsStream)
    }

    /// Begins a request of exactly these fields.
    @discardableResult
    package func begin(_ fields: [(String, String)], endsStream: Bool = true) throws -> UInt32 {
        let stream = takeStream()
        try send(.head(fields, stream: stream, endsStream: endsStream))
        return stream
    }

    /// The number of the next stream, which is then taken.
    package func takeStream() -> UInt32 {
        defer { nextStream += 2 }
        return nextStream
    }

    /// Sends a request and waits for its whole answer.
    package func request(
        _ method: String, _ path: String, _ fields: [(String, String)] = [], body: String? = nil
    ) throws -> Answer {
        let stream = try begin(method, path, fields, endsStream: body == nil)
        if let body { try send(.data(body, stream: stream, endsStream: true)) }
        return try answer(on: stream)
    }

    // MARK: Receiving

    /// What the peer's SETTINGS say last of a parameter; nil if nothing.
    package func setting(_ id: Int) -> Int? {
        for frame in frames.reversed() where frame.kind == .settings {
            for offset in stride(from: 0, to: frame.payload.count, by: 6)
            where Int(frame.payload[offset]) << 8 | Int(frame.payload[offset + 1]) == id {
                return Int(frame.number(at: offset + 2))
            }
        }
        return nil
    }

    /// Waits until a stream has ended, and lets it send all it wants meanwhile.
    package func answer(on stream: UInt32) throws -> Answer {
        try wait(opening: true) { $0.answers[stream]?.isOver == true }
        return answers[stream] ?? Answer()
    }

    /// Waits for the head of an answer.
    package func head(on stream: UInt32) throws -> [String: String] {
        try wait { client in
            client.answers[stream].map { !$0.head.isEmpty || $0.isOver } ?? false
        }
        return answers[stream]?.head ?? [:]
    }

    /// Waits for the code with which the peer resets a stream; nil if it ends in order.
    package func resetCode(of stream: UInt32) throws -> UInt32? { try answer(on: stream).resetCode }

    /// Waits for GOAWAY, and returns its code; nil if the connection ends without one.
    package func goawayCode() throws -> UInt32? { try goaway()?.number(at: 4) }

    /// Waits for GOAWAY; nil if the connection ends without one.
    package func goaway() throws -> HTTP2Frame? {
        try? wait { $0.frames.contains { $0.kind == .goaway } }
        return frames.last { $0.kind == .goaway }
    }

    /// Reads to the end of the connection; a reset counts as one.
    package func awaitEnd() throws { while try receive(opening: false) {} }

    /// Receives until something is so.
    ///
    /// - Parameter opening: whether windows are opened by what comes.
    package func wait(opening: Bool = false, until isSo: (HTTP2Client) -> Bool) throws {
        while !isSo(self) {
            guard try receive(opening: opening) else { throw WireError("the connection ended before that") }
        }
    }

    /// Has the peer answer a PING: whatever it had to say before has come then.
    package func roundTrip() throws {
        let mark: [UInt8] = [1, 2, 3, 4, 5, 6, 7, UInt8(truncatingIfNeeded: frames.count)]
        try send(HTTP2Frame(.ping, mark))
        try wait { $0.frames.contains { $0.kind == .ping && $0.payload == mark } }
    }

    /// - Returns: false at the end of the connection.
    private func receive(opening: Bool) throws -> Bool {
        let some: [UInt8]
        do { some = try wire.readSome() } catch is SocketError { return false }
        guard !some.isEmpty else { return false }
        bytes += some
        while let frame = HTTP2Frame.take(from: &bytes) { try take(frame, opening: opening) }
        return true
    }

    private func take(_ frame: HTTP2Frame, opening: Bool) throws {
        frames.append(frame)
        switch frame.kind {
        case .settings where !frame.has(HTTP2Frame.acknowledgement):
            try? send(.settingsAcknowledgement)
        case .ping where !frame.has(HTTP2Frame.acknowledgement) && answersPings:
            try? send(HTTP2Frame(.ping, flags: HTTP2Frame.acknowledgement, frame.payload))
        case .headers: takeHead(frame)
        case .data:
            answers[frame.stream, default: Answer()].content += frame.payload
            if frame.has(HTTP2Frame.endStream) { answers[frame.stream]?.hasEnd = true }
            if opening, !frame.payload.isEmpty {
                let count = UInt32(frame.payload.count)
                try? send(.windowUpdate(count), .windowUpdate(count, stream: frame.stream))
            }
        case .resetStream: answers[frame.stream, default: Answer()].resetCode = frame.number()
        default: break
        }
    }

    private func takeHead(_ frame: HTTP2Frame) {
        let pairs = (reader.fields(of: frame.payload) ?? []).map { ($0.name, $0.value) }
        let fields = Dictionary(pairs, uniquingKeysWith: { "\($0)\n\($1)" })
        var answer = answers[frame.stream] ?? Answer()
        answer.blocks += 1
        if fields[":status"]?.hasPrefix("1") == true {
            answer.interim.append(fields)
        } else if answer.head.isEmpty {
            answer.head = fields
        } else {
            answer.trailers = fields
        }
        if frame.has(HTTP2Frame.endStream) { answer.hasEnd = true }
        answers[frame.stream] = answer
    }
}
