// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdObservability
internal import BearerdSystem

/// What is recorded of one request that is traced: itself, and each time that it is sent.
///
/// Confined to its worker.
final class RequestTrace {
    /// The request, once it goes up.
    private struct Send {
        let spanID: UInt64
        let start: UInt64
        var end: UInt64?
        var status: Int?
        var errorType: String?
    }

    /// The request's own span.
    let context: TraceContext
    private let parent: UInt64?
    /// Whether `tracestate` goes with another `traceparent` than ours.
    let hasForeignState: Bool
    private let startedAt: ContinuousClock.Instant
    private let startNanoseconds: UInt64
    private var sends: [Send] = []

    /// - Parameters:
    ///   - context: of the span.
    ///   - parent: the client's span; nil where it has none.
    init(_ context: TraceContext, parent: UInt64?, hasForeignState: Bool, at start: ContinuousClock.Instant) {
        self.context = context
        self.parent = parent
        self.hasForeignState = hasForeignState
        startedAt = start
        let wall = WallClock.sinceEpoch - start.duration(to: .now)
        startNanoseconds = wall.wholeNanoseconds
    }

    /// Nanoseconds since 1970, by a clock that nobody sets while the request lasts.
    private var now: UInt64 { startNanoseconds + startedAt.duration(to: .now).wholeNanoseconds }

    /// Begins one more send.
    ///
    /// - Returns: what the upstream is told; nil where the number is no identifier.
    func beginSend(_ spanID: UInt64) -> TraceContext? {
        sends.append(Send(spanID: spanID, start: now))
        return TraceContext(traceID: context.traceID, spanID: spanID, isSampled: true)
    }

    /// Ends the send that was begun last, if that has not ended yet.
    func endSend(status: Int? = nil, errorType: String? = nil) {
        guard let last = sends.indices.last, sends[last].end == nil else { return }
        sends[last].end = now
        sends[last].status = status
        sends[last].errorType = errorType
    }

    /// The spans of the request, which is over.
    func spans(of request: TracedRequest) -> [TraceSpan] {
        endSend()
        let method = request.method.spanName
        var attributes: [(key: SpanKey, value: TraceSpan.Value)] = [
            (.method, .text(method.value)), (.scheme, .text(request.scheme.rawValue)),
            (.path, .text(Self.path(of: request.target))), (.status, .number(request.status)),
            (.protocolVersion, .text(request.version.number)), (.clientAddress, .text(request.peer)),
        ]
        if let ending = request.ending { attributes.append((.errorType, .text(ending.word))) }
        if let route = request.route { attributes.append((.route, .text(route))) }
        if let identity = request.identity { attributes.append((.identity, .text(identity))) }
        let own = TraceSpan(
            name: method.name + (request.route.map { " \($0)" } ?? ""), kind: .server, context: context,
            parent: parent, start: startNanoseconds, end: now, attributes: attributes,
            isError: request.status >= 500 || request.ending == .truncated)
        guard let upstream = request.upstream else { return [own] }
        return [own] + sends.indices.compactMap { span(of: $0, method, at: upstream) }
    }

    private func span(
        of index: Int, _ method: (value: String, name: String), at upstream: HTTPURL
    ) -> TraceSpan? {
        let send = sends[index]
        guard let context = TraceContext(traceID: context.traceID, spanID: send.spanID, isSampled: true)
        else {
            return nil
        }
        var attributes: [(key: SpanKey, value: TraceSpan.Value)] = [
            (.method, .text(method.value)), (.serverAddress, .text(upstream.socketPath ?? upstream.host)),
        ]
        if upstream.socketPath == nil { attributes.append((.serverPort, .number(Int(upstream.port)))) }
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

    /// A target without its query.
    private static func path(of target: [UInt8]) -> String {
        let path = target.prefix { $0 != UInt8(ascii: "?") }.prefix(AccessLog.pathLimit)
        return String(decoding: path, as: UTF8.self)
    }
}

extension HTTPMethod {
    /// The method as spans have it: one that is not well known is `_OTHER`, and `HTTP` in a span's name.
    fileprivate var spanName: (value: String, name: String) {
        let known: [HTTPMethod] = [.get, .head, .post, .put, .patch, .delete, .options]
        return known.contains(self) ? (rawValue, rawValue) : ("_OTHER", "HTTP")
    }
}
