// SPDX-License-Identifier: Apache-2.0

/// The access log of one worker: a line for each request, gathered in one buffer and written in batches.
///
/// It is on the path of every request, so a line allocates nothing once the buffer has its size, and what is
/// the same for many lines (the second, the name of a route) is made ready beforehand. The owner calls
/// ``flush(to:)`` when the buffer ``isFull`` and when its loop has nothing else to do.
package struct AccessLog: Sendable {
    /// Bytes of a request's path, and of its id, that are shown at most.
    package static let pathLimit = 1024, requestIDLimit = 128

    private let capacity: Int
    private var form: AccessLineForm
    private var buffer: [UInt8] = []

    /// Makes the access log of one worker.
    ///
    /// - Parameters:
    ///   - format: of every line.
    ///   - fields: that lines have; nil for all of them.
    ///   - capacity: bytes that are gathered before ``isFull`` says so.
    package init(format: LogFormat, fields: Set<AccessField>? = nil, capacity: Int = 32768) {
        self.capacity = capacity
        form = AccessLineForm(format, fields: fields)
        buffer.reserveCapacity(capacity + 4096)
    }

    /// Whether nothing waits to be written.
    package var isEmpty: Bool { buffer.isEmpty }

    /// Whether it is time to write.
    package var isFull: Bool { buffer.count >= capacity }

    /// Appends the line of one request.
    ///
    /// - Parameters:
    ///   - record: all of it but what is below.
    ///   - route: the one that was found.
    ///   - target: the request target as it came; a query is left out (it may hold credentials), and bytes
    ///     that are not printable ASCII are shown percent-encoded.
    ///   - requestID: the value of `X-Request-Id`.
    package mutating func append(
        _ record: borrowing AccessRecord, route: LoggedRoute, target: Span<UInt8>, requestID: Span<UInt8>
    ) {
        form.write(record, route: route, target: target, requestID: requestID, behind: &buffer)
    }

    /// Hands over what was gathered and keeps the buffer's memory.
    package mutating func flush(to sink: some LineSink) {
        guard !buffer.isEmpty else { return }
        sink.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
