// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// Writes lines of the access log in one format; keeps the text of the time, which is the same for many
/// lines.
struct AccessLineForm: Sendable {
    private let plan: LinePlan
    private let isJSON: Bool
    /// True if all fields are written.
    private let isWhole: Bool
    private var timestamp: Timestamp

    /// - Parameter fields: nil for all fields.
    init(_ format: LogFormat, fields: Set<AccessField>? = nil) {
        isJSON = format == .json
        isWhole = fields == nil
        timestamp =
            isJSON
            ? Timestamp(behind: #"{"time":""#, before: #"","level":"info","message":"request""#)
            : Timestamp(before: " info    request")
        plan = LinePlan(Self.parts(isJSON: isJSON, fields), quotes: isJSON)
    }

    /// The fields of a line in their order, with the keys in front of them.
    private static func parts(
        isJSON: Bool, _ fields: Set<AccessField>?
    ) -> [(field: LinePlan.Field, key: String, limit: Int)] {
        var parts: [(field: LinePlan.Field, key: String, limit: Int)] = []
        func add(_ part: LinePlan.Field, _ field: AccessField, isText: Bool = true, limit: Int = 0) {
            guard fields?.contains(field) ?? true else { return }
            let key = isJSON ? ",\"\(field.rawValue)\":" + (isText ? "\"" : "") : " \(field.rawValue)="
            parts.append((part, key + (part == .replayed ? "true" : ""), limit))
        }
        func addRoute() {
            guard fields != nil else { return parts.append((.routePart, "", 0)) }
            add(.route, .route)
            add(.identity, .identity)
        }
        if isJSON { add(.requestID, .requestID, limit: AccessLog.requestIDLimit) }
        add(.method, .method)
        if isJSON { addRoute() }
        add(.path, .path, limit: AccessLog.pathLimit)
        if !isJSON { addRoute() }
        add(.protocol, .protocol)
        add(.status, .status, isText: false)
        add(.grpcStatus, .grpcStatus, isText: false)
        add(.code, .code)
        add(.upstream, .upstream)
        add(.bytesIn, .bytesIn, isText: false)
        add(.bytesOut, .bytesOut, isText: false)
        add(.seconds, .duration, isText: false)
        add(.replayed, .replayed, isText: false)
        add(.peer, .peer)
        if !isJSON { add(.requestID, .requestID, limit: AccessLog.requestIDLimit) }
        parts.append((.end, isJSON ? "}\n" : "\n", 0))
        return parts
    }

    /// Writes one line with its line end; ``AccessLog/append(_:route:target:requestID:)`` has the parameters.
    mutating func write(
        _ record: borrowing AccessRecord, route: LoggedRoute, target: Span<UInt8>, requestID: Span<UInt8>,
        behind buffer: inout [UInt8]
    ) {
        let path = target.extracting(first: Self.pathLength(of: target))
        let isOwn = !record.code.isEmpty
        timestamp.renew(unixMilliseconds: record.unixMilliseconds)
        let room =
            plan.room + timestamp.text.count + route.longestText + record.method.utf8.count
            + record.code.utf8.count + record.peer.utf8.count
            + OutputSpan.room(forVisible: path, limit: AccessLog.pathLimit)
            + OutputSpan.room(forVisible: requestID, limit: AccessLog.requestIDLimit)
        let numbers = LinePlan.Numbers(
            status: UInt64(clamping: record.status),
            grpcStatus: record.grpcStatus.map { UInt64(clamping: $0) },
            bytesIn: record.bytesIn, bytesOut: record.bytesOut, nanoseconds: record.duration.wholeNanoseconds,
            isReplayed: record.isReplayed)
        let routeText = isWhole ? (isJSON ? route.jsonPart : route.textPart) : route.name
        // A line of all fields has the identity in the route's part.
        let identity = isWhole ? [] : route.identity
        let upstream = isOwn ? route.upstream : []
        let (time, peer, code, method) = (timestamp.text, record.peer, record.code, record.method)
        buffer.append(addingCapacity: room) { line in
            plan.write(
                time: time.span, requestID: requestID, method: method.utf8.span, route: routeText.span,
                identity: identity.span, path: path, protocolName: record.protocolName,
                code: code.utf8.span, upstream: upstream.span, peer: peer.utf8.span, numbers, to: &line)
        }
    }

    /// The length of a target without its query.
    static func pathLength(of target: Span<UInt8>) -> Int {
        target.firstIndex(of: UInt8(ascii: "?"), in: 0..<target.count) ?? target.count
    }
}
