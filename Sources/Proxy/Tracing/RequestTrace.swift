// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdSystem

/// The spans of one traced request: its own, and one for each sending to the upstream.
///
/// Confined to its worker.
final class RequestTrace {
    /// One sending of the request to the upstream.
    private struct Send {
        let spanID: UInt64
        let start: UInt64
        var end: UInt64?
        var status: Int?
        var errorType: String?
    }

    /// The context of the request's own span.
    let context: TraceContext
    private let parent: UInt64?
    /// True if the client's `tracestate` belongs to another trace than ours.
    let hasForeignState: Bool
    private let startedAt: ContinuousClock.Instant
    private let startNanoseconds: UInt64
    private var sends: [Send] = []

    /// - Parameters:
    ///   - context: the context of the request's own span.
    ///   - parent: the client's span; nil if it has none.
    init(_ context: TraceContext, parent: UInt64?, hasForeignState: Bool, at start: ContinuousClock.Instant) {
        self.context = context
        self.parent = parent
        self.hasForeignState = hasForeignState
        startedAt = start
        let wall = WallClock.sinceEpoch - start.duration(to: .now)
        startNanoseconds = wall.wholeNanoseconds
    }

    /// Nanoseconds since 1970, unaffected by clock changes during the request.
    private var now: UInt64 { startNanoseconds + startedAt.duration(to: .now).wholeNanoseconds }

    /// Begins another sending.
    ///
    /// - Returns: the context for the upstream; nil if `spanID` is not a valid identifier.
    func beginSend(_ spanID: UInt64) -> TraceContext? {
        sends.append(Send(spanID: spanID, start: now))
        return TraceContext(traceID: context.traceID, spanID: spanID, isSampled: true)
    }

    /// Ends the latest sending unless it has ended already.
    func endSend(status: Int? = nil, errorType: String? = nil) {
        guard let last = sends.indices.last, sends[last].end == nil else { return }
        sends[last].end = now
        sends[last].status = status
        sends[last].errorType = errorType
    }

    /// Makes the spans of a request that is over.
    func spans(of request: TracedRequest) -> [TraceSpan] {
        endSend()
        let method = request.method.spanName
        var attributes: [(key: SpanKey, value: TraceSpan.Value)] = [
            (.method, .text(method.value)), (.scheme, .text(request.scheme.rawValue)),
            (.path, .text(Self.path(of: request.target))), (.status, .number(request.status)),
            (.protocolVersion, .text(request.version.number)), (.clientAddress, .text(request.peer)),
        ]
        if method.isOther { attributes.append((.methodOriginal, .text(request.method.rawValue))) }
        if let abortReason = request.abortReason { attributes.append((.errorType, .text(abortReason.word))) }
        if let route = request.route { attributes.append((.route, .text(route))) }
        if let identity = request.identity { attributes.append((.identity, .text(identity))) }
        let own = TraceSpan(
            name: method.name + (request.route.map { " \($0)" } ?? ""), kind: .server, context: context,
            parent: parent, start: startNanoseconds, end: now, attributes: attributes,
            isError: request.isError)
        guard let upstream = request.upstream else { return [own] }
        return [own] + sends.indices.compactMap { span(of: $0, request.method, at: upstream) }
    }

    private func span(
        of index: Int, _ requested: HTTPMethod, at upstream: HTTPURL
    ) -> TraceSpan? {
        let (send, method) = (sends[index], requested.spanName)
        guard let context = TraceContext(traceID: context.traceID, spanID: send.spanID, isSampled: true)
        else {
            return nil
        }
        var attributes: [(key: SpanKey, value: TraceSpan.Value)] = [
            (.method, .text(method.value)), (.serverAddress, .text(upstream.socketPath ?? upstream.host)),
        ]
        if upstream.socketPath == nil { attributes.append((.serverPort, .number(Int(upstream.port)))) }
        if method.isOther { attributes.append((.methodOriginal, .text(requested.rawValue))) }
        if index > 0 { attributes.append((.resendCount, .number(index))) }
        if let status = send.status { attributes.append((.status, .number(status))) }
        let isError = send.errorType != nil || send.status.map { $0 >= 400 } ?? false
        if let type = send.errorType ?? (isError ? send.status.map(String.init) : nil) {
            attributes.append((.errorType, .text(type)))
        }
        return TraceSpan(
            name: method.name, kind: .client, context: context, parent: self.context.spanID,
            start: send.start,
            end: send.end ?? send.start, attributes: attributes, isError: isError)
    }

    /// The target without its query.
    private static func path(of target: [UInt8]) -> String {
        let path = target.prefix { $0 != UInt8(ascii: "?") }.prefix(AccessLog.pathLimit)
        return String(decoding: path, as: UTF8.self)
    }
}

extension HTTPMethod {
    /// The method in spans; an uncommon one is `_OTHER` as an attribute and `HTTP` in a span's name.
    fileprivate var spanName: (value: String, name: String, isOther: Bool) {
        let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
        return known.contains(self) ? (rawValue, rawValue, false) : ("_OTHER", "HTTP", true)
    }
}
