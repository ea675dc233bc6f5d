// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import CBearerdNghttp2

/// Sending.
extension HTTP2Session {
    /// Frames what is to be sent into ``output``, until that holds `limit` bytes or a little more.
    package func produce(upTo limit: Int) {
        guard failure == nil else { return }
        outputLimit = limit
        while output.count < limit {
            var bytes: UnsafePointer<UInt8>?
            let count = nghttp2_session_mem_send(handle, &bytes)
            guard count >= 0 else { return fail(breach ?? .internalError) }
            guard count > 0 else { break }
            output.append(contentsOf: UnsafeBufferPointer(start: bytes, count: count))
        }
        if let breach { fail(breach) }
    }

    // MARK: Heads

    /// Sends a head that only precedes the answer (RFC 9110 §15.2).
    package func send(interim head: HTTPResponse, on stream: HTTP2Stream) {
        guard failure == nil, !stream.isClosed else { return }
        var pseudo = PseudoFields()
        pseudo.append(":status", status: head.status)
        pseudo.withPairs(and: head.fields) { pairs in
            _ = nghttp2_submit_headers(
                handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, nil, pairs.baseAddress, pairs.count, nil
            )
        }
    }

    /// Sends the head of an answer.
    ///
    /// - Parameter hasContent: whether content or trailers follow; else the head ends our direction.
    package func respond(_ head: HTTPResponse, hasContent: Bool, on stream: HTTP2Stream) {
        guard failure == nil, !stream.isClosed, !stream.hasBegunSending else { return }
        stream.hasBegunSending = true
        var pseudo = PseudoFields()
        pseudo.append(":status", status: head.status)
        let result = pseudo.withPairs(and: head.fields) { pairs in
            HTTP2Callbacks.withProvider(ifNeeded: hasContent) {
                nghttp2_submit_response(handle, stream.id, pairs.baseAddress, pairs.count, $0)
            }
        }
        if result != 0 { reset(stream, .internalError) }
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
        let isBegun = request(
            head, on: stream, scheme: scheme, hasContent: hasContent, takesTrailers: takesTrailers,
            connectProtocol: connectProtocol)
        return isBegun ? stream : nil
    }

    /// Begins a stream that was made before with a request; parameters as above.
    ///
    /// - Returns: false if the connection takes no more streams; nobody has seen the request then.
    package func request(
        _ head: HTTPRequest, on stream: HTTP2Stream, scheme: HTTPURL.Scheme, hasContent: Bool,
        takesTrailers: Bool, connectProtocol: String? = nil
    ) -> Bool {
        let id =
            failure == nil && goaway == nil
            ? submit(head, scheme, hasContent, takesTrailers, connectProtocol) : 0
        guard id > 0 else {
            stream.isUnprocessed = true
            close(stream, .refusedStream)
            return false
        }
        stream.id = id
        stream.hasBegunSending = true
        stream.isAnnounced = true
        streams[id] = stream
        floods.sentRequest()
        return true
    }

    private func submit(
        _ head: HTTPRequest, _ scheme: HTTPURL.Scheme, _ hasContent: Bool, _ takesTrailers: Bool,
        _ connectProtocol: String?
    ) -> Int32 {
        var pseudo = PseudoFields()
        let method = connectProtocol == nil ? head.method : .connect
        pseudo.append(":method", Array(method.rawValue.utf8))
        pseudo.append(":scheme", Array(scheme.rawValue.utf8))
        if let authority = head.fields.bytes(of: .host) { pseudo.append(":authority", Array(authority)) }
        pseudo.append(":path", head.targetBytes)
        if let connectProtocol { pseudo.append(":protocol", Array(connectProtocol.utf8)) }
        if takesTrailers { pseudo.append("te", Array("trailers".utf8)) }
        return pseudo.withPairs(and: head.fields) { pairs in
            HTTP2Callbacks.withProvider(ifNeeded: hasContent) {
                nghttp2_submit_request(handle, nil, pairs.baseAddress, pairs.count, $0, nil)
            }
        }
    }

    // MARK: Content

    /// Puts a copy of `bytes` behind what waits to be sent on a stream.
    package func send(_ bytes: Span<UInt8>, on stream: HTTP2Stream) {
        guard failure == nil, !stream.isClosed, !stream.endsAfterSending, !bytes.isEmpty else { return }
        stream.sending.append(bytes)
        nghttp2_session_resume_data(handle, stream.id)
    }

    /// Ends our direction of a stream behind what waits to be sent.
    package func end(_ stream: HTTP2Stream, trailers: HTTPFields) {
        guard failure == nil, !stream.isClosed, !stream.endsAfterSending else { return }
        stream.endsAfterSending = true
        if !trailers.isEmpty { stream.trailersToSend = trailers }
        nghttp2_session_resume_data(handle, stream.id)
    }

    /// Ends both directions of a stream at once.
    package func reset(_ stream: HTTP2Stream, _ code: HTTP2ErrorCode) {
        guard failure == nil, !stream.isClosed, stream.resetCode == nil else { return }
        stream.resetCode = code
        stream.sending.removeAll()
        stream.received.removeAll()
        nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, code.rawValue)
        touch(stream)
    }
}
