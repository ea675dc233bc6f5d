// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Writes lines of the access log in one format; keeps the text of the time, which is the same for many
/// lines.
struct AccessLineForm: Sendable {
    private let format: LogFormat
    /// nil for all fields.
    private let fields: Set<AccessField>?
    private var timestamp: Timestamp

    init(_ format: LogFormat, fields: Set<AccessField>? = nil) {
        self.format = format
        self.fields = fields
        timestamp = Timestamp(behind: format == .json ? #"{"time":""# : "")
    }

    /// Writes one line with its line end; ``AccessLog/append(_:route:target:requestID:)`` has the parameters.
    mutating func write(
        _ record: borrowing AccessRecord, route: LoggedRoute, target: Span<UInt8>, requestID: Span<UInt8>,
        behind buffer: inout [UInt8]
    ) {
        let path = target.extracting(first: Self.pathLength(of: target))
        let isOwn = !record.code.isEmpty
        let room =
            Self.roomForTheRest + route.longestText + record.method.utf8.count + record.code.utf8.count
            + record.peer.utf8.count
            + OutputSpan.room(forVisible: path, limit: AccessLog.pathLimit)
            + OutputSpan.room(forVisible: requestID, limit: AccessLog.requestIDLimit)
        buffer.append(addingCapacity: room) { line in
            begin(record.unixMilliseconds, &line)
            if isJSON { addRequestID(requestID, &line) }
            if has(.method) {
                append(#","method":""#, " method=", &line)
                line.append(record.method)
                endText(&line)
            }
            if isJSON { addRoute(route, &line) }
            if has(.path) {
                append(#","path":""#, " path=", &line)
                line.append(visible: path, limit: AccessLog.pathLimit)
                endText(&line)
            }
            if !isJSON { addRoute(route, &line) }
            if has(.protocol) {
                append(#","protocol":""#, " protocol=", &line)
                line.append(literal: record.protocolName)
                endText(&line)
            }
            if has(.status) {
                append(#","status":"#, " status=", &line)
                line.append(decimal: UInt64(clamping: record.status))
            }
            if let status = record.grpcStatus, has(.grpcStatus) {
                append(#","grpc_status":"#, " grpc_status=", &line)
                line.append(decimal: UInt64(clamping: status))
            }
            if isOwn, has(.code) {
                append(#","code":""#, " code=", &line)
                line.append(record.code)
                endText(&line)
            }
            if isOwn, let upstream = route.upstream, has(.upstream) {
                append(#","upstream":""#, " upstream=", &line)
                line.append(upstream)
                endText(&line)
            }
            if has(.bytesIn) {
                append(#","bytes_in":"#, " bytes_in=", &line)
                line.append(decimal: record.bytesIn)
            }
            if has(.bytesOut) {
                append(#","bytes_out":"#, " bytes_out=", &line)
                line.append(decimal: record.bytesOut)
            }
            if has(.duration) {
                append(#","duration_seconds":"#, " duration_seconds=", &line)
                line.append(seconds: record.duration)
            }
            if record.isReplayed, has(.replayed) {
                append(#","replayed":true"#, " replayed=true", &line)
            }
            if has(.peer) {
                append(#","peer":""#, " peer=", &line)
                line.append(record.peer)
                endText(&line)
            }
            if !isJSON { addRequestID(requestID, &line) }
            append("}\n", "\n", &line)
        }
    }

    /// The bytes of a line's literals, numbers and time, which do not depend on what clients send.
    private static var roomForTheRest: Int { 448 }

    private var isJSON: Bool { format == .json }

    private func has(_ field: AccessField) -> Bool { fields?.contains(field) ?? true }

    private mutating func begin(_ unixMilliseconds: Int64, _ line: inout OutputSpan<UInt8>) {
        timestamp.append(unixMilliseconds: unixMilliseconds, to: &line)
        append(#"","level":"info","message":"request""#, " info    request", &line)
    }

    private func addRequestID(_ requestID: Span<UInt8>, _ line: inout OutputSpan<UInt8>) {
        guard has(.requestID) else { return }
        append(#","request_id":""#, " request_id=", &line)
        line.append(visible: requestID, limit: AccessLog.requestIDLimit)
        endText(&line)
    }

    private func addRoute(_ route: LoggedRoute, _ line: inout OutputSpan<UInt8>) {
        guard fields != nil else { return line.append(isJSON ? route.jsonPart : route.textPart) }
        if has(.route) {
            append(#","route":""#, " route=", &line)
            line.append(route.name)
            endText(&line)
        }
        if let identity = route.identity, has(.identity) {
            append(#","identity":""#, " identity=", &line)
            line.append(identity)
            endText(&line)
        }
    }

    /// Appends one of two literals, each in a branch of its own: the compiler knows its length there, and calls nobody to copy it.
    @inline(__always)
    private func append(_ json: StaticString, _ text: StaticString, _ line: inout OutputSpan<UInt8>) {
        if isJSON { line.append(literal: json) } else { line.append(literal: text) }
    }

    private func endText(_ line: inout OutputSpan<UInt8>) {
        if isJSON { line.append(UInt8(ascii: "\"")) }
    }

    /// The length of a target without its query.
    static func pathLength(of target: Span<UInt8>) -> Int {
        var end = 0
        while end < target.count && target[end] != UInt8(ascii: "?") { end += 1 }
        return end
    }
}
