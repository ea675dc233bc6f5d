// SPDX-License-Identifier: Apache-2.0

/// The error for a message that the test's simple HTTP reader does not expect.
package struct WireError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}

/// One end of a connection in a test: sends exact bytes, and reads messages with a simple parser of its own.
///
/// One thread may read while another writes.
package final class Wire: @unchecked Sendable {
    // `buffer` belongs to the reading thread.
    private let stream: any ByteStream
    private var buffer: [UInt8] = []
    private var position = 0
    private var consumed: [UInt8] = []

    package init(_ stream: any ByteStream) { self.stream = stream }

    /// Connects to a listener, with `receiveBuffer` bytes of kernel buffer if given.
    package convenience init(to address: Address, receiveBuffer: Int32? = nil) throws {
        self.init(try Socket.connected(to: address, receiveBuffer: receiveBuffer))
    }

    // MARK: Sending

    /// Sends exactly these bytes.
    package func send(_ bytes: [UInt8]) throws { try stream.write(bytes, within: patience) }

    /// Sends exactly this text.
    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Changes the keys of TLS 1.3 so many times, one message after the other (RFC 8446 section 4.6.3).
    package func updateKeys(_ times: Int) throws { try (stream as? TLSStream)?.updateKeys(times) }

    /// Sends the end of our direction.
    package func finishWriting() { stream.finishWriting() }

    /// Ends the connection in an orderly way.
    package func close() { stream.close() }

    /// Ends the connection with a TCP reset.
    package func reset() { stream.reset() }

    /// Ends the TCP connection without TLS's close_notify.
    package func cut() { stream.cut() }

    // MARK: Receiving bytes

    /// Reads at least one byte; empty at the end of the stream.
    package func readSome(within limit: Duration = patience) throws -> [UInt8] {
        if position == buffer.count { try fill(within: limit) }
        defer { position = buffer.count }
        return Array(buffer[position...])
    }

    /// Exactly `count` bytes.
    package func read(exactly count: Int) throws -> [UInt8] {
        while buffer.count - position < count {
            guard try fill() else { throw WireError("the stream ended where \(count) bytes were due") }
        }
        defer { position += count }
        return Array(buffer[position..<(position + count)])
    }

    /// Everything until the peer ends the stream; a reset counts as an end.
    package func readToEnd() throws -> [UInt8] {
        do {
            while try fill() {}
        } catch is SocketError {}
        defer { position = buffer.count }
        return Array(buffer[position...])
    }

    /// Reads and drops until the stream ends; returns how many bytes there were.
    package func drain() throws -> Int {
        var total = buffer.count - position
        buffer = []
        position = 0
        do {
            while true {
                let bytes = try stream.read(upTo: 1 << 18, within: patience)
                if bytes.isEmpty { return total }
                total += bytes.count
            }
        } catch is SocketError { return total }
    }

    /// Waits until the peer ends the stream; returns true if no byte came before.
    package func endsCleanly() throws -> Bool { try readToEnd().isEmpty }

    /// Returns true if a byte or the end of the stream arrives within `limit`.
    package func hasSomething(within limit: Duration) throws -> Bool {
        if position < buffer.count { return true }
        do {
            try fill(within: limit)
            return true
        } catch is TimedOut { return false }
    }

    /// Reads to the end of the stream; returns false if the end was a reset, or TLS without close_notify.
    package func endsInOrder() throws -> Bool {
        do {
            while try fill() {}
            return true
        } catch is SocketError { return false }
    }

    @discardableResult
    private func fill(within limit: Duration = patience) throws -> Bool {
        if position == buffer.count {
            buffer.removeAll(keepingCapacity: true)
            position = 0
        }
        let bytes = try stream.read(upTo: 65536, within: limit)
        buffer += bytes
        consumed += bytes
        return !bytes.isEmpty
    }

    // MARK: Receiving messages

    /// A head up to its empty line; nil if the stream ends before the first byte.
    package func readHead() throws -> RawHead? {
        var searched = position
        while true {
            if let end = endOfHead(from: &searched) {
                defer { position = end }
                return RawHead(raw: Array(buffer[position..<end]))
            }
            let offset = searched - position
            if try !fill() {
                if position == buffer.count { return nil }
                throw WireError("the stream ended inside a head: \(String(decoding: buffer, as: UTF8.self))")
            }
            searched = position + offset
        }
    }

    private func endOfHead(from start: inout Int) -> Int? {
        while start + 3 < buffer.count {
            if buffer[start] == 13, buffer[start + 1] == 10, buffer[start + 2] == 13, buffer[start + 3] == 10
            {
                return start + 4
            }
            start += 1
        }
        return nil
    }

    /// A whole request; nil if the stream ends before the first byte.
    package func readRequest() throws -> RawRequest? {
        guard let head = try readHead() else { return nil }
        let (body, trailers) = try readBody(of: head)
        return RawRequest(head: head, body: body, trailers: trailers)
    }

    /// Reads the body that a head announces; empty if it announces none.
    package func readBody(
        of head: RawHead
    ) throws -> (body: [UInt8], trailers: [(name: String, value: String)]) {
        if head["Transfer-Encoding"]?.lowercased().hasSuffix("chunked") == true {
            var body: [UInt8] = []
            while let chunk = try readChunk() { body += chunk }
            return (body, try readTrailers())
        }
        guard let length = head["Content-Length"].flatMap(Int.init) else { return ([], []) }
        return (try read(exactly: length), [])
    }

    /// The next chunk of a chunked body; nil for the last, whose trailers ``readTrailers()`` reads.
    package func readChunk() throws -> [UInt8]? {
        let line = try readLine()
        guard let size = Int(line.prefix { $0 != ";" }, radix: 16) else {
            throw WireError("chunk size \(line)")
        }
        if size == 0 { return nil }
        let chunk = try read(exactly: size)
        guard try read(exactly: 2) == [13, 10] else { throw WireError("a chunk without its line end") }
        return chunk
    }

    /// The trailer fields after the last chunk.
    package func readTrailers() throws -> [(name: String, value: String)] {
        var lines: [Substring] = []
        while true {
            let line = try readLine()
            if line.isEmpty { return RawHead.fields(in: lines) }
            lines.append(line[...])
        }
    }

    private func readLine() throws -> String {
        var line: [UInt8] = []
        while !line.suffix(2).elementsEqual([13, 10]) { line += try read(exactly: 1) }
        return String(decoding: line.dropLast(2), as: UTF8.self)
    }

    /// Reads a whole response to a request of the method, with the 1xx responses before it.
    package func readResponse(to method: String = "GET") throws -> RawResponse {
        consumed = Array(buffer[position...])
        var interim: [RawHead] = []
        while true {
            guard let head = try readHead() else { throw WireError("the stream ended without a response") }
            if (100..<200).contains(head.status), head.status != 101 {
                interim.append(head)
                continue
            }
            return try readResponse(head, interim: interim, to: method)
        }
    }

    private func readResponse(_ head: RawHead, interim: [RawHead], to method: String) throws -> RawResponse {
        var body: [UInt8] = []
        var trailers: [(name: String, value: String)] = []
        var isComplete = true
        if method == "HEAD" || head.status == 204 || head.status == 304 || head.status == 101 {
        } else if head["Transfer-Encoding"] != nil {
            do {
                while let chunk = try readChunk() { body += chunk }
                trailers = try readTrailers()
            } catch is WireError {
                isComplete = false
            } catch is SocketError {
                isComplete = false
            }
        } else if let length = head["Content-Length"].flatMap(Int.init) {
            do {
                body = try read(exactly: length)
            } catch is WireError {
                body = try readSome()
                isComplete = false
            } catch is SocketError {
                isComplete = false
            }
        } else {
            body = try readToEnd()
        }
        let raw = Array(consumed.dropLast(buffer.count - position))
        return RawResponse(
            interim: interim, head: head, body: body, trailers: trailers, isComplete: isComplete, raw: raw)
    }
}
