// SPDX-License-Identifier: Apache-2.0

/// The access log of one worker: a line for each request, gathered in one buffer and written in batches.
///
/// It is on the path of every request, so a line allocates nothing once the buffer has its size, and what is
/// the same for many lines (the second, the names of the routes) is made ready beforehand. The owner calls
/// ``flush(to:)`` when the buffer ``isFull`` and when its loop has nothing else to do.
package struct AccessLog: Sendable {
    /// Bytes of a request's path, and of its id, that are shown at most.
    package static let pathLimit = 1024, requestIDLimit = 128

    private let format: LogFormat
    private let capacity: Int
    private let routeFields: [[UInt8]]
    private let noRouteField: [UInt8]
    private var timestamp = Timestamp()
    private var buffer: [UInt8] = []

    /// Makes the access log of one worker.
    ///
    /// - Parameters:
    ///   - format: of every line.
    ///   - routes: the names of the routes, by index.
    ///   - capacity: bytes that are gathered before ``isFull`` says so.
    package init(format: LogFormat, routes: [String], capacity: Int = 32768) {
        self.format = format
        self.capacity = capacity
        routeFields = routes.map { Self.field(ofRoute: $0, in: format) }
        noRouteField = Self.field(ofRoute: "none", in: format)
        buffer.reserveCapacity(capacity + 4096)
    }

    /// Whether nothing waits to be written.
    package var isEmpty: Bool { buffer.isEmpty }

    /// Whether it is time to write.
    package var isFull: Bool { buffer.count >= capacity }

    /// Appends the line of one request.
    ///
    /// - Parameters:
    ///   - record: all of it but the two texts below.
    ///   - target: the request target as it came; a query is left out (it may hold credentials), and bytes
    ///     that are not printable ASCII are shown percent-encoded.
    ///   - requestID: the value of `X-Request-Id`.
    package mutating func append(
        _ record: borrowing AccessRecord, target: Span<UInt8>, requestID: Span<UInt8>
    ) {
        switch format {
        case .json: appendJSON(record, target: target, requestID: requestID)
        case .text: appendText(record, target: target, requestID: requestID)
        }
    }

    /// Hands over what was gathered and keeps the buffer's memory.
    package mutating func flush(to sink: some LineSink) {
        guard !buffer.isEmpty else { return }
        sink.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }

    private mutating func appendJSON(
        _ record: borrowing AccessRecord, target: Span<UInt8>, requestID: Span<UInt8>
    ) {
        buffer.append(contentsOf: #"{"time":""#.utf8)
        timestamp.append(unixMilliseconds: record.unixMilliseconds, to: &buffer)
        buffer.append(contentsOf: #"","level":"info","message":"request","request_id":""#.utf8)
        append(visible: requestID, limit: Self.requestIDLimit)
        buffer.append(contentsOf: #"","method":""#.utf8)
        buffer.append(contentsOf: record.method.utf8)
        buffer.append(contentsOf: record.route.map { routeFields[$0] } ?? noRouteField)
        append(path: target)
        buffer.append(contentsOf: #"","status":"#.utf8)
        buffer.append(decimal: UInt64(clamping: record.status))
        if !record.code.isEmpty {
            buffer.append(contentsOf: #","code":""#.utf8)
            buffer.append(contentsOf: record.code.utf8)
            buffer.append(UInt8(ascii: "\""))
        }
        buffer.append(contentsOf: #","bytes_in":"#.utf8)
        buffer.append(decimal: record.bytesIn)
        buffer.append(contentsOf: #","bytes_out":"#.utf8)
        buffer.append(decimal: record.bytesOut)
        buffer.append(contentsOf: #","duration_seconds":"#.utf8)
        buffer.append(seconds: record.duration)
        if record.isReplayed { buffer.append(contentsOf: #","replayed":true"#.utf8) }
        buffer.append(contentsOf: #","peer":""#.utf8)
        buffer.append(contentsOf: record.peer.utf8)
        buffer.append(contentsOf: "\"}\n".utf8)
    }

    private mutating func appendText(
        _ record: borrowing AccessRecord, target: Span<UInt8>, requestID: Span<UInt8>
    ) {
        timestamp.append(unixMilliseconds: record.unixMilliseconds, to: &buffer)
        buffer.append(contentsOf: " info    request method=".utf8)
        buffer.append(contentsOf: record.method.utf8)
        buffer.append(contentsOf: " path=".utf8)
        append(path: target)
        buffer.append(contentsOf: record.route.map { routeFields[$0] } ?? noRouteField)
        buffer.append(contentsOf: " status=".utf8)
        buffer.append(decimal: UInt64(clamping: record.status))
        if !record.code.isEmpty {
            buffer.append(contentsOf: " code=".utf8)
            buffer.append(contentsOf: record.code.utf8)
        }
        buffer.append(contentsOf: " bytes_in=".utf8)
        buffer.append(decimal: record.bytesIn)
        buffer.append(contentsOf: " bytes_out=".utf8)
        buffer.append(decimal: record.bytesOut)
        buffer.append(contentsOf: " duration_seconds=".utf8)
        buffer.append(seconds: record.duration)
        if record.isReplayed { buffer.append(contentsOf: " replayed=true".utf8) }
        buffer.append(contentsOf: " peer=".utf8)
        buffer.append(contentsOf: record.peer.utf8)
        buffer.append(contentsOf: " request_id=".utf8)
        append(visible: requestID, limit: Self.requestIDLimit)
        buffer.append(UInt8(ascii: "\n"))
    }

    /// Appends a target up to its query.
    private mutating func append(path target: Span<UInt8>) {
        var end = 0
        while end < target.count && target[end] != UInt8(ascii: "?") { end += 1 }
        append(visible: target.extracting(0..<end), limit: Self.pathLimit)
    }

    /// Appends bytes of the client's choice: what is not printable ASCII, quotes and backslashes percent-encoded.
    private mutating func append(visible bytes: Span<UInt8>, limit: Int) {
        let shown = min(bytes.count, limit)
        let start = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: shown))
        var copied = 0
        var copy = buffer.mutableSpan
        while copied < shown && Self.isVisible(bytes[copied]) {
            copy[start + copied] = bytes[copied]
            copied += 1
        }
        if copied < shown {
            buffer.removeLast(shown - copied)
            for index in copied..<shown { append(visible: bytes[index]) }
        }
        if bytes.count > shown { buffer.append(contentsOf: "...".utf8) }
    }

    private mutating func append(visible byte: UInt8) {
        guard !Self.isVisible(byte) else { return buffer.append(byte) }
        buffer.append(UInt8(ascii: "%"))
        buffer.append(hexadecimal: byte)
    }

    private static func isVisible(_ byte: UInt8) -> Bool {
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    /// The piece of a line that names the route, with what stands before and after it in its format.
    private static func field(ofRoute name: String, in format: LogFormat) -> [UInt8] {
        var field: [UInt8] = []
        switch format {
        case .json:
            field.append(contentsOf: #"","route":""#.utf8)
            field.append(escaping: name.utf8, limit: pathLimit)
            field.append(contentsOf: #"","path":""#.utf8)
        case .text:
            field.append(contentsOf: " route=".utf8)
            field.append(escaping: name.utf8, limit: pathLimit)
        }
        return field
    }
}
