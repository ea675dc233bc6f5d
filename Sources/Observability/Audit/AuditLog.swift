// SPDX-License-Identifier: Apache-2.0

internal import BearerdJSONText

/// The audit of one worker: one JSON line for each request that got a token, collected in a buffer and
/// written in batches.
package struct AuditLog: Sendable {
    /// The most bytes of a text that are shown; for a path it is ``AccessLog/pathLimit``.
    private static let textLimit = 1024

    private let capacity: Int
    private var timestamp = Timestamp()
    private var buffer: [UInt8] = []
    private var count = 0

    /// - Parameter capacity: the bytes to collect before ``isFull`` is true.
    package init(capacity: Int = 32768) { self.capacity = capacity }

    /// True if the lines should be written.
    package var isFull: Bool { buffer.count >= capacity }

    /// Appends the line of one request.
    ///
    /// - Parameter target: the request target as received; its query is left out, and bytes other than
    ///   printable ASCII are percent-encoded.
    package mutating func append(_ entry: AuditEntry, target: Span<UInt8>) {
        buffer.append(contentsOf: #"{"time":""#.utf8)
        timestamp.append(unixMilliseconds: entry.unixMilliseconds, to: &buffer)
        buffer.append(contentsOf: #"""#.utf8)
        append("peer", entry.peer)
        append("uid", entry.user.map { Int($0) })
        append("executable", entry.executable)
        append("command", entry.command)
        append("route", entry.route)
        append("method", entry.method)
        append(path: target.extracting(first: AccessLineForm.pathLength(of: target)))
        append("identity", entry.identity)
        append("subject", entry.subject)
        append("generation", entry.generation)
        append("status", entry.status)
        buffer.append(contentsOf: "}\n".utf8)
        count += 1
    }

    /// Writes the lines to `sink` and keeps the buffer's memory.
    package mutating func flush(to sink: some AuditSink) {
        guard count > 0 else { return }
        sink.write(buffer, count: count)
        buffer.removeAll(keepingCapacity: true)
        count = 0
    }

    private mutating func append(key: String) {
        buffer.append(contentsOf: ",\"\(key)\":".utf8)
    }

    private mutating func append(_ key: String, _ text: String?) {
        append(key: key)
        guard let text else { return buffer.append(contentsOf: "null".utf8) }
        buffer.append(UInt8(ascii: "\""))
        buffer.append(jsonEscaping: text, limit: Self.textLimit)
        buffer.append(UInt8(ascii: "\""))
    }

    private mutating func append(_ key: String, _ number: Int?) {
        append(key: key)
        guard let number else { return buffer.append(contentsOf: "null".utf8) }
        buffer.append(decimal: number)
    }

    private mutating func append(path: Span<UInt8>) {
        append(key: "path")
        buffer.append(addingCapacity: 2 + OutputSpan.room(forVisible: path, limit: AccessLog.pathLimit)) {
            $0.append(UInt8(ascii: "\""))
            $0.append(visible: path, limit: AccessLog.pathLimit)
            $0.append(UInt8(ascii: "\""))
        }
    }
}
