// SPDX-License-Identifier: Apache-2.0

import BearerdHTTP2
import BearerdHTTPMessages
import BearerdTestSupport
import Testing

/// Who holds whom back (RFC 9113 §5.2).
@Suite struct `Windows of HTTP2 streams` {
    private let peer: FramePeer

    init() throws { peer = try #require(FramePeer()) }

    private func upload(_ count: Int) {
        var rest = count
        while rest > 0 {
            peer.send(HTTP2Frame(.data, stream: 1, Array(repeating: 0, count: min(rest, 16_384))))
            rest -= 16_384
        }
    }

    @Test func `a stream's window opens by what is consumed, and by nothing else`() throws {
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        upload(65_535)
        let stream = try #require(peer.streams[1])
        #expect(stream.keptCount == 65_535)
        #expect(!peer.takeFrames().contains { $0.kind == .windowUpdate && $0.stream == 1 })
        peer.session.consume(65_535, of: stream)
        let opened = peer.takeFrames().filter { $0.kind == .windowUpdate && $0.stream == 1 }
        #expect(opened.map { $0.number() } == [65_535])
    }

    @Test func `a window that opens is told to nobody before content goes out by it`() throws {
        for number in 0..<UInt32(10) {
            peer.send(.head(FramePeer.get, stream: 2 * number + 1))
            let stream = try #require(peer.streams[Int32(2 * number + 1)])
            peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
            peer.session.send([UInt8](repeating: 0x78, count: 16_384).span, on: stream)
            stream.isAwaited = true
        }
        _ = peer.takeFrames()
        let updates = [HTTP2Frame.windowUpdate(1), .windowUpdate(1, stream: 1)].flatMap(\.bytes)
        peer.session.receive(updates.span, at: peer.now)
        #expect(!peer.session.hasChanged)
        peer.session.produce(upTo: 1 << 20)
        #expect(peer.session.takeChanged().count == 1)
    }

    @Test func `a stream that nobody reads keeps no other from its content`() throws {
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        for number in 0..<UInt32(40) {
            let id = 3 + 2 * number
            peer.send(.head(FramePeer.post, stream: id, endsStream: false))
            upload(id == 3 ? 65_535 : 0)
            for _ in 0..<3 { peer.send(HTTP2Frame(.data, stream: id, Array(repeating: 0, count: 16_384))) }
            _ = peer.takeFrames()
        }
        #expect(peer.session.failure == nil)
        #expect(peer.streams[81]?.keptCount == 3 * 16_384)
    }

    @Test(arguments: [HTTP2Session.Role.server, .client])
    func `the connection's window is shared by all that wait for it`(role: HTTP2Session.Role) throws {
        let peer = try #require(FramePeer(role))
        peer.send(.settings([(4, 1 << 20)]))
        var streams: [HTTP2Stream] = []
        for number in 0..<UInt32(4) {
            switch role {
            case .server:
                peer.send(.head(FramePeer.get, stream: 2 * number + 1))
                let stream = try #require(peer.streams[Int32(2 * number + 1)])
                peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
                streams.append(stream)
            case .client:
                let post = HTTPRequest(
                    method: .post, target: "/", fields: HTTPFields(("Host", "example.com")))
                let stream = peer.session.request(post, scheme: .http, hasContent: true, takesTrailers: false)
                streams.append(try #require(stream))
            }
        }
        for stream in streams {
            peer.session.send([UInt8](repeating: 0x78, count: 400_000).span, on: stream)
        }
        _ = peer.takeFrames()
        for _ in 0..<40 {
            peer.send(.windowUpdate(16_384))
            _ = peer.takeFrames()
        }
        let unsent = streams.map(\.unsentCount)
        #expect(try #require(unsent.max()) - #require(unsent.min()) <= 65_535, "\(unsent)")
    }

    @Test func `whoever sends beyond the window is told so`() {
        peer.send(.head(FramePeer.post, stream: 1, endsStream: false))
        upload(65_536 + 16_384)
        let frames = peer.takeFrames()
        #expect(
            frames.contains { ($0.kind == .resetStream || $0.kind == .goaway) && $0.payload.contains(0x3) })
    }

    @Test func `content waits for the peer's window, and trailers for the content`() throws {
        peer.send(.settings([(4, 10)]), .head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        peer.session.send(Array("0123456789abc".utf8).span, on: stream)
        peer.session.end(stream, trailers: HTTPFields(("grpc-status", "0")))
        let first = peer.takeFrames().filter { $0.stream == 1 }
        #expect(first.map(\.kind) == [.headers, .data] && first.last?.payload.count == 10)
        #expect(stream.unsentCount == 3 && peer.session.window(of: stream) == 0)
        peer.send(.windowUpdate(100, stream: 1))
        let rest = peer.takeFrames()
        #expect(rest.map(\.kind) == [.data, .headers] && rest.last?.has(HTTP2Frame.endStream) == true)
        #expect(stream.hasSentEnd && stream.isClosed && stream.resetCode == nil)
    }

    private static let status = HTTPFields(("grpc-status", "0"))

    /// Sends trailers, or the end alone.
    private func end(_ stream: HTTP2Stream, _ trailers: HTTPFields) -> [HTTP2Frame] {
        peer.session.end(stream, trailers: trailers)
        return peer.takeFrames()
    }

    @Test(arguments: [true, false])
    func `the end of a message waits for no window`(hasTrailers: Bool) throws {
        for isWhole in [true, false] {
            let id: UInt32 = isWhole ? 1 : 3
            peer.send(
                .settings([(4, 10)]), .head(FramePeer.post, stream: id, endsStream: isWhole))
            let stream = try #require(peer.streams[Int32(id)])
            peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
            peer.session.send(Array("0123456789".utf8).span, on: stream)
            #expect(peer.takeFrames().filter { $0.stream == id }.map(\.kind) == [.headers, .data])
            let frames = end(stream, hasTrailers ? Self.status : HTTPFields())
            #expect(frames.map(\.kind) == [.headers] && frames.first?.has(HTTP2Frame.endStream) == true)
            #expect(frames.map { peer.fields(of: $0) } == [hasTrailers ? ["grpc-status": "0"] : [:]])
            #expect(stream.hasSentEnd && stream.isClosed == isWhole && stream.resetCode == nil)
            guard !isWhole else { continue }
            // What nghttp2 has left of the content is given up.
            peer.send(.windowUpdate(100, stream: id), .windowUpdate(100))
            #expect(peer.takeFrames().isEmpty)
            peer.send(HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: id))
            #expect(peer.takeFrames().isEmpty && stream.isClosed && stream.resetCode == nil)
        }
    }

    @Test(arguments: [true, false])
    func `nor for the connection's, which another stream has used up`(hasTrailers: Bool) throws {
        peer.send(.settings([(4, 1 << 20)]), .head(FramePeer.get, stream: 1), .head(FramePeer.get, stream: 3))
        let (large, small) = (try #require(peer.streams[1]), try #require(peer.streams[3]))
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: small)
        _ = peer.takeFrames()
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: large)
        peer.session.send([UInt8](repeating: 0, count: 70_000).span, on: large)
        _ = peer.takeFrames()
        #expect(large.unsentCount == 70_000 - 65_535)
        let frames = end(small, hasTrailers ? Self.status : HTTPFields())
        #expect(frames.map(\.kind) == [.headers] && small.hasSentEnd && small.isClosed)
        peer.send(.windowUpdate(70_000))
        #expect(peer.takeFrames().map(\.kind) == [.data] && large.unsentCount == 0)
    }

    @Test func `trailers of a message without content wait for its head alone`() throws {
        peer.send(.settings([(4, 0)]), .head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.end(stream, trailers: Self.status)
        peer.session.send(interim: HTTPResponse(status: 103), on: stream)
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        let heads = peer.takeFrames().filter { $0.kind == .headers }.map { peer.fields(of: $0) }
        #expect(heads == [[":status": "103"], [":status": "200"], ["grpc-status": "0"]])
        #expect(stream.isClosed && stream.resetCode == nil)
        let server = try #require(FramePeer(.client))
        server.send(.settings([(4, 0)]))
        var post = HTTPRequest(method: .post, target: "/", fields: HTTPFields(("Host", "example.com")))
        let sent = HTTP2Stream()
        server.session.end(sent, trailers: Self.status)
        let isBegun = server.session.request(
            &post, on: sent, scheme: .http, hasContent: true, takesTrailers: false)
        #expect(isBegun)
        let frames = server.takeFrames().filter { $0.kind != .settings }
        #expect(frames.map(\.kind) == [.headers, .headers] && sent.hasSentEnd)
    }

    @Test func `an end whose window has closed meanwhile goes out where others would be reset`() throws {
        peer.send(.settings([(4, 10)]), .head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        _ = peer.takeFrames()
        peer.session.end(stream, trailers: HTTPFields())
        peer.send(.settings([(4, 0)]))
        #expect(peer.takeFrames().map(\.kind) == [.settings])
        peer.session.loseInterest(in: stream)
        var waits: [Int32: (sentCount: UInt64, wait: ContentWait)] = [:]
        for _ in 0..<2 { peer.session.resetUntaken(since: &waits) }
        #expect(peer.takeFrames().map(\.kind) == [.headers])
        #expect(stream.isClosed && stream.resetCode == nil)
    }

    /// Three answers with windows of their own, and more content than the connection's window has room for.
    private func beginLargeAnswers() throws -> [HTTP2Stream] {
        peer.send(.settings([(4, 1 << 20)]))
        let streams = try [UInt32(1), 3, 5].map { id in
            peer.send(.head(FramePeer.get, stream: id))
            let stream = try #require(peer.streams[Int32(id)])
            peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
            peer.session.send([UInt8](repeating: 0, count: 70_000).span, on: stream)
            return stream
        }
        let sent = peer.takeFrames().reduce(0) { $0 + ($1.kind == .data ? $1.payload.count : 0) }
        #expect(sent == 65_535)
        return streams
    }

    /// The peer takes one byte, of whichever stream.
    private func takeByte() {
        peer.send(.windowUpdate(1))
        #expect(peer.takeFrames().map(\.kind) == [.data])
    }

    @Test func `content with a window of its own may wait while others' goes out, once for each stream`()
        throws
    {
        let streams = try beginLargeAnswers()
        var wait = ContentWait(on: peer.session)
        var goesOn = wait.mayGoOn(streams[2], on: peer.session)
        #expect(!goesOn, "nothing has gone out")
        wait = ContentWait(on: peer.session)
        for _ in streams {
            takeByte()
            goesOn = wait.mayGoOn(streams[2], on: peer.session)
            #expect(goesOn)
        }
        takeByte()
        goesOn = wait.mayGoOn(streams[2], on: peer.session)
        #expect(!goesOn, "each has had its turn")
        // All windows but the first one's close.
        peer.send(.settings([(4, 0)]), .windowUpdate(1 << 20, stream: 1))
        _ = peer.takeFrames()
        wait = ContentWait(on: peer.session)
        takeByte()
        goesOn = wait.mayGoOn(streams[2], on: peer.session)
        #expect(!goesOn, "its window is closed")
        takeByte()
        goesOn = wait.mayGoOn(streams[0], on: peer.session)
        #expect(goesOn)
    }

    @Test func `an answer that waits for its turn is not reset while others go out`() throws {
        let streams = try beginLargeAnswers()
        for stream in streams { peer.session.loseInterest(in: stream) }
        var waits: [Int32: (sentCount: UInt64, wait: ContentWait)] = [:]
        peer.session.resetUntaken(since: &waits)
        for _ in 0..<2 {
            takeByte()
            peer.session.resetUntaken(since: &waits)
            #expect(streams.allSatisfy { $0.resetCode == nil })
        }
        peer.session.resetUntaken(since: &waits)
        #expect(streams.contains { $0.resetCode == .cancel })
        peer.session.resetUntaken(since: &waits)
        #expect(streams.allSatisfy { $0.resetCode == .cancel })
    }

    /// A request with so much content, whose windows have room for ten bytes.
    private func beginUpload(_ content: String, to server: FramePeer) throws -> HTTP2Stream {
        let post = HTTPRequest(method: .post, target: "/", fields: HTTPFields(("Host", "example.com")))
        let stream = try #require(
            server.session.request(post, scheme: .http, hasContent: true, takesTrailers: false))
        server.session.send(Array(content.utf8).span, on: stream)
        let kinds = server.takeFrames().filter { $0.kind != .settings }.map(\.kind)
        #expect(kinds == (content.isEmpty ? [.headers] : [.headers, .data]))
        return stream
    }

    /// RFC 9113 §6.9.1; and the place of the stream is free for another.
    @Test(arguments: ["", "0123456789", "0123456789abc"])
    func `an upload without trailers ends by DATA, whatever the windows`(content: String) throws {
        let server = try #require(FramePeer(.client))
        server.send(.settings([(3, 1), (4, content.isEmpty ? 0 : 10)]))
        for isAnswered in [false, true, false] {
            let stream = try beginUpload(content, to: server)
            let id = UInt32(stream.id)
            if isAnswered { server.send(.head([(":status", "200")], stream: id)) }
            server.session.end(stream, trailers: HTTPFields())
            if content.utf8.count > 10 {
                #expect(
                    server.takeFrames().isEmpty && !stream.hasSentEnd, "content waits, and its end with it")
                server.send(.windowUpdate(3, stream: id))
            }
            let end = server.takeFrames()
            #expect(end.map(\.kind) == [.data] && end.first?.has(HTTP2Frame.endStream) == true)
            #expect(stream.hasSentEnd && stream.isClosed == isAnswered)
            // nghttp2 still has an end of its own.
            if !isAnswered { server.send(.windowUpdate(100, stream: id)) }
            #expect(server.takeFrames().isEmpty)
            if !isAnswered { server.send(.head([(":status", "200")], stream: id)) }
            #expect(server.takeFrames().isEmpty && stream.isClosed && stream.resetCode == nil)
        }
        #expect(server.session.flood == nil && server.session.failure == nil)
    }

    @Test func `an upload that has ended so can be reset by either side`() throws {
        let server = try #require(FramePeer(.client))
        server.send(.settings([(4, 0)]))
        for isOurs in [true, false] {
            let stream = try beginUpload("", to: server)
            server.session.end(stream, trailers: HTTPFields())
            #expect(server.takeFrames().map(\.kind) == [.data])
            if isOurs {
                server.session.reset(stream, .cancel)
            } else {
                server.send(.reset(UInt32(stream.id), code: 0x7))
            }
            #expect(server.takeFrames().map(\.kind) == (isOurs ? [.resetStream] : []))
            #expect(stream.isClosed && stream.resetCode == (isOurs ? .cancel : .refusedStream))
        }
    }

    @Test func `a tunnel ends by DATA, whatever its window`() throws {
        peer.send(
            .settings([(4, 0)]),
            .head(
                [
                    (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "http"),
                    (":authority", "example.com"), (":path", "/chat"),
                ], stream: 1, endsStream: false))
        let stream = try #require(peer.streams[1])
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        _ = peer.takeFrames()
        #expect(end(stream, HTTPFields()).map(\.kind) == [.data] && stream.hasSentEnd)
        peer.send(HTTP2Frame(.data, flags: HTTP2Frame.endStream, stream: 1))
        #expect(peer.takeFrames().isEmpty && stream.isClosed && stream.resetCode == nil)
    }

    @Test func `what is produced at once is bounded`() throws {
        peer.send(.settings([(4, 1 << 30)]), .windowUpdate(1 << 30), .head(FramePeer.get, stream: 1))
        let stream = try #require(peer.streams[1])
        peer.session.respond(HTTPResponse(status: 200), hasContent: true, on: stream)
        peer.session.send([UInt8](repeating: 0, count: 1 << 20).span, on: stream)
        peer.session.produce(upTo: 65_536)
        #expect((65_536...90_000).contains(peer.session.output.count))
        #expect(peer.takeFrames().reduce(0) { $0 + ($1.kind == .data ? $1.payload.count : 0) } == 1 << 20)
    }
}

extension HTTPFields {
    init(_ fields: (String, String)...) {
        self.init()
        for (name, value) in fields { if let name = Name(name) { append(name, value) } }
    }
}
