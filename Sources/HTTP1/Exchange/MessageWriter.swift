// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
package import BearerdHTTPExchange
package import BearerdHTTPMessages
internal import BearerdSystem

/// Writes one HTTP/1.1 message after another to a stream: a head, then content, in chunks if necessary.
///
/// Confined to its loop's thread. Its buffer is reused from message to message.
package final class MessageWriter: BodySink {
    /// A piece up to this size is copied behind the kept bytes, which costs less than a gathering send.
    private static var joinLimit: Int { 4 * 1024 }
    /// Chunks are collected up to this size into one send.
    private static var gatherLimit: Int { 16 * 1024 }
    /// The largest buffer that is kept for the next message.
    private static var keptCapacity: Int { 2 * gatherLimit }
    private static let lineEnd = [UInt8(ascii: "\r"), UInt8(ascii: "\n")]
    private static let nothing: [UInt8] = []

    private var stream: ByteStream
    /// The head, framing, small pieces, and bytes that the peer did not take at once.
    private var kept = ByteBlock()
    private var isChunked = false
    /// True once the end's framing is written.
    private var hasEnd = false
    private var sentBefore: UInt64 = 0

    package init(stream: ByteStream) {
        self.stream = stream
    }

    /// Writes to another stream from now on; kept bytes of a message that broke off are the other peer's, and dropped.
    package func use(_ stream: ByteStream) {
        self.stream = stream
        begin()
    }

    /// Frees the buffer.
    package func forget() { kept = ByteBlock() }

    /// Begins a message; kept bytes of the previous one are dropped.
    package func begin() {
        if !kept.isEmpty { empty() }
        isChunked = false
        hasEnd = false
        sentBefore = stream.bytesSent
    }

    /// Writes the head of a request.
    ///
    /// - Parameter isChunked: true if the content is sent in chunks (RFC 9112 §7.1), which the head then
    ///   declares.
    package func append(_ head: inout HTTPRequest, isChunked: Bool) {
        self.isChunked = isChunked
        lend { head.serialize(into: &$0) }
        if isChunked { append(lineOfHead: Self.chunkedLine) }
    }

    /// Writes the head of a response in the same way.
    package func append(_ head: inout HTTPResponse, isChunked: Bool) {
        self.isChunked = isChunked
        lend { head.serialize(into: &$0) }
        if isChunked { append(lineOfHead: Self.chunkedLine) }
    }

    private static let chunkedLine = Array("Transfer-Encoding: chunked\r\n".utf8)

    /// Appends a field line, including its CR LF, to the head that was written last.
    package func append(lineOfHead line: [UInt8]) {
        lend { kept in
            kept.removeLast(Self.lineEnd.count)
            kept.append(room: line.count &+ Self.lineEnd.count) {
                $0.append(copying: line.span)
                $0.append(Byte.carriageReturn)
                $0.append(Byte.lineFeed)
            }
        }
    }

    /// Calls `body` with the kept bytes, which nobody else may use meanwhile.
    ///
    /// They are moved to it and back: an access that lasts is checked at run time, for 90 instructions, and so would be all
    /// others to the same variable.
    @inline(__always)
    private func lend<Result, Failure: Error>(
        _ body: (inout ByteBlock) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var lent = ByteBlock()
        swap(&lent, &kept)
        defer {
            precondition(kept.isEmpty, "a message was written by two at once")
            swap(&lent, &kept)
        }
        return try body(&lent)
    }

    package var framesEnd: Bool { isChunked }
    @inline(__always)
    package var takesMuch: Bool { true }

    package var hasSent: Bool { stream.bytesSent != sentBefore }

    package func append(_ content: [UInt8]) {
        guard !content.isEmpty else { return }
        let isChunked = isChunked
        lend { kept in
            if isChunked { ChunkedEncoder.head(of: content.count, into: &kept) }
            kept.append(content.span)
            if isChunked { ChunkedEncoder.dataEnd(into: &kept) }
        }
    }

    package func end(trailers: @autoclosure () -> HTTPFields) {
        guard isChunked, !hasEnd else { return }
        hasEnd = true
        let trailers = trailers()
        lend { ChunkedEncoder.end(trailers: trailers, into: &$0) }
    }

    package func offer(_ piece: Span<UInt8>) throws(StreamError) -> Bool {
        if isChunked { lend { ChunkedEncoder.head(of: piece.count, into: &$0) } }
        if keeps(piece) { return true }
        let tail = isChunked ? Self.lineEnd : Self.nothing
        let sent = try stream.send(kept, piece, tail)
        guard sent < kept.count + piece.count + tail.count else {
            empty()
            return true
        }
        lend { kept in
            kept.append(piece)
            kept.append(tail.span)
            kept.removeFirst(sent)
        }
        return false
    }

    private func empty() { lend { $0.removeAll(keepingCapacity: $0.bytes.count <= Self.keptCapacity) } }

    /// - Returns: true if the piece is small and was kept with its framing.
    private func keeps(_ piece: Span<UInt8>) -> Bool {
        guard piece.count <= Self.joinLimit || isChunked, kept.count + piece.count <= Self.gatherLimit
        else { return false }
        let isChunked = isChunked
        lend { kept in
            kept.append(piece)
            if isChunked { ChunkedEncoder.dataEnd(into: &kept) }
        }
        return true
    }

    package func send(
        pieceOf source: some BodySource, within timeout: Duration
    ) async throws(StreamError) {
        defer { source.consumePiece() }
        if stream.turnIsOver { await stream.yield() }
        guard let count = source.pieceCount else { throw .closed }
        if isChunked { lend { ChunkedEncoder.head(of: count, into: &$0) } }
        if source.withPiece({ keeps($0) }) == true { return }
        let tail = isChunked ? Self.lineEnd : Self.nothing
        var sent = 0
        while sent < kept.count + count + tail.count {
            let moved = try source.withPiece { (piece) throws(StreamError) in
                try stream.send(kept, piece, tail, from: sent)
            }
            guard let moved else { throw .closed }
            sent += moved
            if moved == 0 { try await stream.waitForRoom(within: timeout) }
            if stream.turnIsOver { await stream.yield() }
        }
        empty()
    }

    package func flush() throws(StreamError) -> Bool {
        guard !kept.isEmpty else { return true }
        return try lend { (kept) throws(StreamError) in
            guard try stream.flush(&kept) else { return false }
            if kept.bytes.count > Self.keptCapacity { kept = ByteBlock() }
            return true
        }
    }

    package func flush(within timeout: Duration) async throws(StreamError) {
        guard !kept.isEmpty else { return }
        try await stream.write(kept, within: timeout)
        empty()
    }
}
