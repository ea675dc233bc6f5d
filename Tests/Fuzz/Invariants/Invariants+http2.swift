// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTP1
internal import BearerdHTTP2
internal import BearerdHTTPExchange
internal import BearerdHTTPMessages

extension Invariants {
    /// What one side of an HTTP/2 connection has understood of one stream.
    private struct UnderstoodStream: Equatable {
        var method: HTTPMethod
        var target: [UInt8]
        var fields: HTTPFields
        var answers: [HTTPFields]
        var statuses: [Int]
        var content: [UInt8]
        var declaredLength: UInt64?
        var trailers: HTTPFields
        var hasHead: Bool
        var hasEnd: Bool
        var fault: MessageFault?
        var resetCode: HTTP2ErrorCode?

        /// True if the content is all that differs, and that by nature.
        ///
        /// nghttp2 hands out what has arrived of a DATA frame before the piece that goes beyond the declared length, and
        /// nothing of that piece. Such a stream is reset, and its content dropped, unless the connection ends before; it has
        /// no end, without which nobody is given the last byte that is declared.
        func differsInExcess(from other: UnderstoodStream) -> Bool {
            guard let declaredLength, !hasEnd, max(content.count, other.content.count) <= declaredLength
            else {
                return false
            }
            var same = other
            same.content = content
            return same == self
                && (content.starts(with: other.content) || other.content.starts(with: content))
        }
    }

    private struct UnderstoodConnection: Equatable {
        var streams: [Int32: UnderstoodStream] = [:]
        var failure: HTTP2ErrorCode?
        var isOver = false
        var violation: String?

        /// True if as much was understood as by the other, which got the same bytes in other pieces.
        func agrees(with other: UnderstoodConnection) -> Bool {
            guard failure == other.failure, isOver == other.isOver, streams.count == other.streams.count
            else {
                return false
            }
            return streams.allSatisfy { id, stream in
                guard let twin = other.streams[id] else { return false }
                return stream == twin || (isOver && stream.differsInExcess(from: twin))
            }
        }
    }

    /// What a server must do with any frames behind a client's preface.
    package static func violation(http2Requests bytes: [UInt8]) -> String? {
        let settings: [UInt8] = [0, 0, 0, 4, 0, 0, 0, 0, 0]
        return violation(
            .server, Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + settings + bytes)
    }

    /// What a client with two requests under way must do with any frames.
    package static func violation(http2Answers bytes: [UInt8]) -> String? {
        violation(.client, [0, 0, 0, 4, 0, 0, 0, 0, 0] + bytes)
    }

    private static func violation(_ role: HTTP2Session.Role, _ bytes: [UInt8]) -> String? {
        let whole = conversation(role, bytes) { bytes.count }
        if let violation = whole.violation { return violation }
        for length in [1, 7, 64] {
            let cut = conversation(role, bytes) { length }
            if let violation = cut.violation { return violation }
            guard cut.agrees(with: whole) else { return "in pieces of \(length): \(cut)\nwhole: \(whole)" }
        }
        return nil
    }

    private static func conversation(
        _ role: HTTP2Session.Role, _ bytes: [UInt8], nextLength: () -> Int
    ) -> UnderstoodConnection {
        var seen = UnderstoodConnection()
        let limits = HTTP2Limits(streams: 8, head: fuzzLimits)
        guard let session = HTTP2Session(role, limits: limits) else {
            seen.violation = "no session"
            return seen
        }
        var streams: [Int32: HTTP2Stream] = [:]
        if role == .client { for stream in requests(on: session) { streams[stream.id] = stream } }
        // The clock stands still: budgets do not depend on where the network cuts.
        let now = ContinuousClock.now
        var rest = bytes[...]
        while !rest.isEmpty, session.failure == nil {
            let piece = Array(rest.prefix(nextLength()))
            rest = rest.dropFirst(piece.count)
            session.receive(piece.span, at: now)
            for stream in session.takeChanged() { streams[stream.id] = stream }
            for stream in streams.values where stream.keptCount > HTTP2Limits.streamWindow {
                seen.violation = "\(stream.keptCount) bytes of a stream are kept"
            }
        }
        session.produce(upTo: 1 << 20)
        for stream in session.takeChanged() { streams[stream.id] = stream }
        seen.failure = session.failure
        seen.isOver = session.isOver
        for (id, stream) in streams {
            seen.streams[id] = understood(stream)
            if role == .server, let violation = smugglingViolation(of: stream) { seen.violation = violation }
        }
        return seen
    }

    private static func requests(on session: HTTP2Session) -> [HTTP2Stream] {
        var get = HTTPRequest(method: .get, target: "/")
        get.fields[.host] = "example.com"
        var post = get
        post.method = .post
        let streams = [
            session.request(get, scheme: .http, hasContent: false, takesTrailers: true),
            session.request(post, scheme: .http, hasContent: true, takesTrailers: false),
        ].compactMap { $0 }
        session.produce(upTo: 1 << 20)
        _ = session.takeOutput()
        return streams
    }

    private static func understood(_ stream: HTTP2Stream) -> UnderstoodStream {
        let content = stream.withReceived(stream.keptCount) { bytes in
            var copy: [UInt8] = []
            copy.append(bytes)
            return copy
        }
        var answers: [HTTPResponse] = []
        while stream.hasResponse {
            var answer = HTTPResponse()
            stream.takeResponse(into: &answer)
            answers.append(answer)
        }
        return UnderstoodStream(
            method: stream.request.method, target: stream.request.targetBytes, fields: stream.request.fields,
            answers: answers.map(\.fields), statuses: answers.map(\.status),
            content: content, declaredLength: stream.declaredLength, trailers: stream.trailers,
            hasHead: stream.hasHead, hasEnd: stream.hasEnd,
            fault: stream.fault, resetCode: stream.resetCode)
    }

    /// A request that is handed out must be the same one to a reader of HTTP/1.1.
    private static func smugglingViolation(of stream: HTTP2Stream) -> String? {
        guard stream.hasHead, stream.fault == nil, !stream.request.method.isNeverForwarded else { return nil }
        var sent = stream.request
        var text: [UInt8] = []
        sent.serialize(into: &text)
        let (outcome, again) = parse(request: text, .whole, limits: HeadLimits())
        guard outcome == .complete(text.count) else { return "written as HTTP/1.1 it is \(outcome): \(text)" }
        guard again.method == sent.method, again.targetBytes == sent.targetBytes, again.fields == sent.fields
        else { return "written as HTTP/1.1 it reads differently" }
        return again.fields.has(.transferEncoding) ? "a transfer coding" : nil
    }
}
