// SPDX-License-Identifier: Apache-2.0

internal import System

/// How a line of the access log is written: its format, and the time, which is the same for many lines.
struct AccessLineForm: Sendable {
    private let format: LogFormat
    /// nil for all of them.
    private let fields: Set<AccessField>?
    private var timestamp = Timestamp()

    init(_ format: LogFormat, fields: Set<AccessField>? = nil) {
        self.format = format
        self.fields = fields
    }

    /// Writes one line, its line end included; ``AccessLog/append(_:route:target:requestID:)`` has the parameters.
    mutating func write(
        _ record: borrowing AccessRecord, route: LoggedRoute, target: Span<UInt8>, requestID: Span<UInt8>,
        behind buffer: inout [UInt8]
    ) {
        let path = target.extracting(first: Self.pathLength(of: target))
        if let fields {
            return writeChosen(
                fields, record, route: route, path: path, requestID: requestID, behind: &buffer)
        }
        let piece = route.piece(in: format)
        let upstream = record.code.isEmpty ? [] : route.upstream ?? []
        let room =
            Self.roomForTheRest + piece.count + upstream.count
            + record.method.utf8.count + record.code.utf8.count
            + record.peer.utf8.count
            + OutputSpan.room(forVisible: path, limit: AccessLog.pathLimit)
            + OutputSpan.room(forVisible: requestID, limit: AccessLog.requestIDLimit)
        buffer.append(addingCapacity: room) { line in
            switch format {
            case .json:
                writeJSON(
                    record, route: piece, upstream: upstream, path: path, requestID: requestID, into: &line)
            case .text:
                writeText(
                    record, route: piece, upstream: upstream, path: path, requestID: requestID, into: &line)
            }
        }
    }

    /// Bytes of a line that do not depend on what clients send: its literals, its numbers and the time.
    private static var roomForTheRest: Int { 384 }

    private mutating func writeJSON(
        _ record: borrowing AccessRecord, route: [UInt8], upstream: [UInt8], path: Span<UInt8>,
        requestID: Span<UInt8>, into line: inout OutputSpan<UInt8>
    ) {
        line.append(literal: #"{"time":""#)
        timestamp.append(unixMilliseconds: record.unixMilliseconds, to: &line)
        line.append(literal: #"","level":"info","message":"request","request_id":""#)
        line.append(visible: requestID, limit: AccessLog.requestIDLimit)
        line.append(literal: #"","method":""#)
        line.append(record.method)
        line.append(route)
        line.append(visible: path, limit: AccessLog.pathLimit)
        line.append(literal: #"","protocol":""#)
        line.append(literal: record.protocolName)
        line.append(literal: #"","status":"#)
        line.append(decimal: UInt64(clamping: record.status))
        if !record.code.isEmpty {
            line.append(literal: #","code":""#)
            line.append(record.code)
            line.append(UInt8(ascii: "\""))
            if !upstream.isEmpty {
                line.append(literal: #","upstream":""#)
                line.append(upstream)
                line.append(UInt8(ascii: "\""))
            }
        }
        line.append(literal: #","bytes_in":"#)
        line.append(decimal: record.bytesIn)
        line.append(literal: #","bytes_out":"#)
        line.append(decimal: record.bytesOut)
        line.append(literal: #","duration_seconds":"#)
        line.append(seconds: record.duration)
        if record.isReplayed { line.append(literal: #","replayed":true"#) }
        line.append(literal: #","peer":""#)
        line.append(record.peer)
        line.append(literal: "\"}\n")
    }

    private mutating func writeText(
        _ record: borrowing AccessRecord, route: [UInt8], upstream: [UInt8], path: Span<UInt8>,
        requestID: Span<UInt8>, into line: inout OutputSpan<UInt8>
    ) {
        timestamp.append(unixMilliseconds: record.unixMilliseconds, to: &line)
        line.append(literal: " info    request method=")
        line.append(record.method)
        line.append(literal: " path=")
        line.append(visible: path, limit: AccessLog.pathLimit)
        line.append(route)
        line.append(literal: " protocol=")
        line.append(literal: record.protocolName)
        line.append(literal: " status=")
        line.append(decimal: UInt64(clamping: record.status))
        if !record.code.isEmpty {
            line.append(literal: " code=")
            line.append(record.code)
            if !upstream.isEmpty {
                line.append(literal: " upstream=")
                line.append(upstream)
            }
        }
        line.append(literal: " bytes_in=")
        line.append(decimal: record.bytesIn)
        line.append(literal: " bytes_out=")
        line.append(decimal: record.bytesOut)
        line.append(literal: " duration_seconds=")
        line.append(seconds: record.duration)
        if record.isReplayed { line.append(literal: " replayed=true") }
        line.append(literal: " peer=")
        line.append(record.peer)
        line.append(literal: " request_id=")
        line.append(visible: requestID, limit: AccessLog.requestIDLimit)
        line.append(UInt8(ascii: "\n"))
    }

    /// A line with some of the fields, in the order that they always have.
    private mutating func writeChosen(
        _ fields: Set<AccessField>, _ record: borrowing AccessRecord, route: LoggedRoute, path: Span<UInt8>,
        requestID: Span<UInt8>, behind buffer: inout [UInt8]
    ) {
        var line = AccessLine(format, fields, behind: buffer)
        buffer = []  // the line has it alone
        line.begin(unixMilliseconds: record.unixMilliseconds, &timestamp)
        line.add(.requestID, visible: requestID, limit: AccessLog.requestIDLimit)
        line.add(.method, record.method)
        line.add(.route, escaped: route.name)
        if let identity = route.identity { line.add(.identity, escaped: identity) }
        line.add(.path, visible: path, limit: AccessLog.pathLimit)
        line.add(.protocol, record.protocolName.description)
        line.add(.status, UInt64(clamping: record.status))
        if !record.code.isEmpty { line.add(.code, record.code) }
        if !record.code.isEmpty, let upstream = route.upstream { line.add(.upstream, escaped: upstream) }
        line.add(.bytesIn, record.bytesIn)
        line.add(.bytesOut, record.bytesOut)
        line.add(.duration, record.duration)
        if record.isReplayed { line.addTrue(.replayed) }
        line.add(.peer, record.peer)
        buffer = line.ended()
    }

    /// The length of a target up to its query.
    static func pathLength(of target: Span<UInt8>) -> Int {
        var end = 0
        while end < target.count && target[end] != UInt8(ascii: "?") { end += 1 }
        return end
    }
}
