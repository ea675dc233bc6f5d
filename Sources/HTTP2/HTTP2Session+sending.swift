// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
package import BearerdSystem
internal import CBearerdNghttp2

/// Sending.
extension HTTP2Session {
    /// Frames what is to be sent into ``output``, until that holds `limit` bytes or a little more.
    package func produce(upTo limit: Int) {
        guard failure == nil else { return }
        outputLimit = limit
        while framed.value.count < limit {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(handle, &bytes)
            guard count >= 0 else { return fail(breach ?? .internalError) }
            guard count > 0 else {
                // Between two frames of nghttp2's, which is never so inside of a head.
                guard !shutEnds.isEmpty, frameShutEnds() else { break }
                continue
            }
            let frame = UnsafeBufferPointer(start: bytes, count: count).span
            if !isUnsentReset(frame) { framed.value.append(frame) }
        }
        if let breach { fail(breach) }
    }

    /// Lends ``output`` to whoever sends it and removes what is sent; nothing may be framed meanwhile.
    package func withOutput<Result, Failure: Error>(
        _ body: (inout ByteBlock) throws(Failure) -> Result
    ) throws(Failure) -> Result { try body(&framed.value) }

    // MARK: Heads

    /// Sends a head that only precedes the answer (RFC 9110 §15.2).
    package func send(interim head: HTTPResponse, on stream: HTTP2Stream) {
        guard failure == nil, !stream.isClosed else { return }
        var fields = head.fields
        let pairs = pairs(of: head.status, &fields)
        let result = nghttp2_submit_headers(
            handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, pairs.first, pairs.count, nil)
        guard result == 0 else { return }
        outgoing.begin()
        stream.interimCount += 1
    }

    /// Sends the head of an answer.
    ///
    /// - Parameter hasContent: whether content or trailers follow; else the head ends our direction.
    package func respond(_ head: HTTPResponse, hasContent: Bool, on stream: HTTP2Stream) {
        var fields = head.fields
        respond(head.status, &fields, hasContent: hasContent, on: stream)
    }

    /// Sends the head of an answer with that status, whose fields are lent; parameters as above.
    package func respond(
        _ status: Int, _ fields: inout HTTPFields, hasContent: Bool, on stream: HTTP2Stream
    ) {
        guard failure == nil, !stream.isClosed, !stream.hasBegunSending else { return }
        stream.hasBegunSending = true
        stream.hasGivenEnd = !hasContent
        let pairs = pairs(of: status, &fields)
        let result = HTTP2Callbacks.withProvider(ifNeeded: hasContent) {
            nghttp2_submit_response(handle, stream.id, pairs.first, pairs.count, $0)
        }
        if result == 0 { outgoing.begin() } else { reset(stream, .internalError) }
    }

    private func pairs(of status: Int, _ fields: inout HTTPFields) -> HeadPairs {
        var pairs = HeadPairs(for: fields, room: 3, in: outgoing)
        pairs.append(status: status)
        pairs.append(fields)
        return pairs
    }

    /// Begins a stream with a request.
    ///
    /// - Parameters:
    ///   - scheme: of the target.
    ///   - hasContent: whether content or trailers follow.
    ///   - takesTrailers: whether whoever reads the answer wants its trailers (RFC 9110 §10.1.4).
    ///   - connectProtocol: makes it an extended CONNECT (RFC 8441), whatever the head's method.
    /// - Returns: nil if the connection takes no more streams.
    package func request(
        _ head: HTTPRequest, scheme: HTTPURL.Scheme, hasContent: Bool, takesTrailers: Bool,
        connectProtocol: String? = nil
    ) -> HTTP2Stream? {
        let stream = HTTP2Stream()
        var head = head
        let isBegun = request(
            &head, on: stream, scheme: scheme, hasContent: hasContent, takesTrailers: takesTrailers,
            connectProtocol: connectProtocol)
        return isBegun ? stream : nil
    }

    /// Begins a stream that was made before with a request, which is lent; parameters as above.
    ///
    /// - Returns: false if the connection takes no more streams; nobody has seen the request then.
    package func request(
        _ head: inout HTTPRequest, on stream: HTTP2Stream, scheme: HTTPURL.Scheme, hasContent: Bool,
        takesTrailers: Bool, connectProtocol: String? = nil
    ) -> Bool {
        // Other bytes are an error of `:path`'s syntax, for which servers may end the whole connection (RFC 9113 §8.3.1).
        let target = PercentEncoding.ascii(head.targetBytes.span) ?? head.targetBytes
        let id =
            failure == nil && receivedGoaway == nil
            ? submit(&head, target, scheme, hasContent, takesTrailers, connectProtocol) : 0
        guard id > 0 else {
            stream.isUnprocessed = true
            close(stream, .refusedStream)
            return false
        }
        stream.id = id
        stream.hasBegunSending = true
        stream.hasGivenEnd = !hasContent
        stream.isAnnounced = true
        streams.insert(stream)
        floods.sentRequest()
        return true
    }

    private func submit(
        _ head: inout HTTPRequest, _ target: [UInt8], _ scheme: HTTPURL.Scheme, _ hasContent: Bool,
        _ takesTrailers: Bool, _ connectProtocol: String?
    ) -> Int32 {
        let method = (connectProtocol == nil ? head.method : .connect).rawValue
        let tunnel = connectProtocol ?? ""
        let target = target.span
        var pairs = HeadPairs(
            for: head.fields, room: method.utf8.count + target.count + tunnel.utf8.count, in: outgoing)
        pairs.append(":method", copying: method.utf8.span)
        pairs.append(":scheme", scheme == .https ? "https" : "http")
        if let host = head.fields.rangeOfHost { pairs.append(":authority", at: host) }
        // Its query may hold a token, and the client may have said so of it.
        pairs.append(":path", copying: target, isInNoTable: true)
        if connectProtocol != nil { pairs.append(":protocol", copying: tunnel.utf8.span) }
        if takesTrailers { pairs.append("te", "trailers") }
        pairs.append(head.fields)
        let id = HTTP2Callbacks.withProvider(ifNeeded: hasContent) {
            nghttp2_submit_request(handle, nil, pairs.first, pairs.count, $0, nil)
        }
        if id > 0 { outgoing.begin() }
        return id
    }

    // MARK: Content

    /// Puts a copy of `bytes` behind what waits to be sent on a stream.
    package func send(_ bytes: Span<UInt8>, on stream: HTTP2Stream) {
        guard failure == nil, !stream.isClosed, !stream.endsAfterSending, !bytes.isEmpty else { return }
        stream.append(unsent: bytes)
        waitingCount += bytes.count
        resume(stream)
    }

    /// True if what waits to be sent, on a stream and on all others, is as good as framed: neither a window nor the room for
    /// what is framed at once holds up any of it.
    package func takesAllUnsent(of stream: HTTP2Stream) -> Bool {
        stream.unsentCount <= streamWindow(of: stream) && waitingCount <= connectionWindow
            && framed.value.count + waitingCount < Self.promisedSize && streamCount <= peerStreamLimit
    }

    /// More content is not promised to be framed at once.
    private static let promisedSize = 32 * 1024

    /// Forgets content that is to be sent.
    func dropUnsent(of stream: HTTP2Stream) {
        waitingCount -= stream.unsentCount
        stream.dropUnsent()
    }

    /// Ends our direction of a stream behind what waits to be sent.
    package func end(_ stream: HTTP2Stream, trailers: HTTPFields) {
        guard failure == nil, !stream.isClosed, !stream.endsAfterSending else { return }
        stream.endsAfterSending = true
        if !trailers.isEmpty { stream.append(trailersToSend: trailers) }
        endByHead(stream)
        guard !stream.hasGivenEnd else { return }
        endApart(stream)
        resume(stream)
    }

    /// Forgets what was given of a message whose head has not gone out, for another one takes its place.
    package func forgetUnsent(of stream: HTTP2Stream) {
        guard stream.unsentCount > 0 || stream.endsAfterSending else { return }
        dropUnsent(of: stream)
        stream.endsAfterSending = false
        stream.dropTrailersToSend()
    }

    /// Ends our direction by HEADERS, which no window holds up (RFC 9113 §6.9), if its content has gone out: nghttp2 has even
    /// DATA without content, and trailers behind it, wait for one.
    func endByHead(_ stream: HTTP2Stream) {
        guard stream.endsAfterSending, stream.unsentCount == 0, stream.hasBegunSending,
            !stream.hasGivenEnd,
            // A request that waits to be framed is no stream of nghttp2's yet.
            nghttp2_session_get_stream_remote_window_size(handle, stream.id) >= 0,
            // A tunnel carries nothing but DATA (RFC 9113 §8.5), and servers do not expect trailers that nobody has sent:
            // ``frameShutEnds()`` is for these.
            stream.hasTrailersToSend
                || (role == .server && window(of: stream) <= 0 && stream.connectProtocol == nil)
        else { return }
        giveTrailers(of: stream)
    }

    /// Has nghttp2 send the trailers; a section without any ends a message, too.
    func giveTrailers(of stream: HTTP2Stream) {
        stream.hasGivenEnd = true
        var pairs = HeadPairs(for: stream.trailersToSend, room: 0, in: outgoing)
        pairs.append(stream.trailersToSend)
        stream.dropTrailersToSend()
        if nghttp2_submit_trailer(handle, stream.id, pairs.first, pairs.count) == 0 { outgoing.begin() }
    }

    private func resume(_ stream: HTTP2Stream) {
        guard stream.isDeferred else { return }
        stream.isDeferred = false
        nghttp2_session_resume_data(handle, stream.id)
    }

    /// Says that nobody is interested in what the peer still sends on a stream whose answer is complete but for its sending:
    /// once that is done the peer need not go on (RFC 9113 §8.1).
    package func loseInterest(in stream: HTTP2Stream) {
        guard !stream.isClosed else { return }
        stream.onChange = nil
        if !stream.isAnswered { untaken += 1 }
        stream.isAnswered = true
        if stream.hasSentEnd { reset(stream, .noError) }
    }

    /// Resets the streams of whose answers the peer has taken nothing since the last call, because it opens no window.
    ///
    /// - Parameter waits: those of each then, with how much the peer had taken, and of each now.
    package func resetUntaken(since waits: inout [Int32: (sentCount: UInt64, wait: ContentWait)]) {
        var going: [Int32: (sentCount: UInt64, wait: ContentWait)] = [:]
        for stream in streams.all
        where stream.isAnswered && stream.resetCode == nil && window(of: stream) <= 0 {
            // An end may have waited for a window that was open then, and that others have used up.
            endByHead(stream)
            if stream.hasGivenEnd { continue }
            guard var known = waits[stream.id], known.sentCount == stream.sentCount else {
                going[stream.id] = (stream.sentCount, ContentWait(on: self))
                continue
            }
            if known.wait.mayGoOn(stream, on: self) {
                going[stream.id] = known
            } else {
                reset(stream, .cancel)
            }
        }
        waits = going
    }

    /// Ends both directions of a stream at once.
    package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        guard failure == nil, !stream.isClosed, stream.resetCode == nil else { return }
        stream.resetCode = code
        if !stream.hasEnd, stream.id > 0 { abandoned.insert(stream.id) }
        dropUnsent(of: stream)
        stream.dropReceived()
        nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
        touch(stream)
    }
}
