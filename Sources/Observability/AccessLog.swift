// SPDX-License-Identifier: Apache-2.0

/// The access log of one worker: one line for each request, collected in a buffer and written in batches.
///
/// Every request passes here, so a line allocates nothing once the buffer has its size, and texts that many
/// lines share (the second, a route's name) are prepared beforehand. The owner calls ``flush(to:)`` when
/// ``isFull`` says so and when its loop is idle.
package struct AccessLog: Sendable {
    /// The most bytes of a request's path that are shown, and of its identifier.
    package static let pathLimit = 1024, requestIDLimit = 128

    private let capacity: Int
    private var form: AccessLineForm
    private var buffer: [UInt8] = []

    /// Makes the access log of one worker.
    ///
    /// - Parameters:
    ///   - format: the format of every line.
    ///   - fields: the fields of a line; nil for all.
    ///   - capacity: the bytes to collect before ``isFull`` is true.
    package init(format: LogFormat, fields: Set<AccessField>? = nil, capacity: Int = 32768) {
        self.capacity = capacity
        form = AccessLineForm(format, fields: fields)
        buffer.reserveCapacity(capacity + 4096)
    }

    /// True if no line waits to be written.
    package var isEmpty: Bool { buffer.isEmpty }

    /// True if the lines should be written.
    package var isFull: Bool { buffer.count >= capacity }

    /// Appends the line of one request.
    ///
    /// - Parameters:
    ///   - record: the request's data.
    ///   - route: the request's route.
    ///   - target: the request target as received; its query is left out, because it may hold credentials,
    ///     and bytes other than printable ASCII are percent-encoded.
    ///   - requestID: the value of `X-Request-Id`.
    package mutating func append(
        _ record: borrowing AccessRecord, route: LoggedRoute, target: Span<UInt8>, requestID: Span<UInt8>
    ) {
        form.write(record, route: route, target: target, requestID: requestID, behind: &buffer)
    }

    /// Writes the lines to `sink` and keeps the buffer's memory.
    package mutating func flush(to sink: some LineSink) {
        guard !buffer.isEmpty else { return }
        sink.write(buffer)
        buffer.removeAll(keepingCapacity: true)
    }
}
