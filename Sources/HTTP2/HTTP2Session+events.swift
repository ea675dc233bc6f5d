// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdNghttp2

/// The events of nghttp2, which it reports from inside its functions.
extension HTTP2Session {
    private static func isSet(_ flag: nghttp2_flag, _ header: nghttp2_frame_hd) -> Bool {
        header.flags & UInt8(flag.rawValue) != 0
    }

    /// Ends the connection as soon as nghttp2 has returned.
    private func breach(_ code: HTTP2ErrorCode) -> Bool {
        if breach == nil { breach = code }
        return false
    }

    // MARK: Frames that arrive

    /// A frame has arrived whole, and nghttp2 has taken it for good.
    func frameArrived(_ frame: UnsafePointer<nghttp2_frame>) -> Bool {
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_HEADERS.rawValue:
            messageFrameCount &+= 1
            headArrived(on: header.stream_id, endsStream: Self.isSet(NGHTTP2_FLAG_END_STREAM, header))
        case NGHTTP2_DATA.rawValue:
            messageFrameCount &+= 1
            if header.length > frame.pointee.data.padlen { floods.receivedContent(header.length) }
            if Self.isSet(NGHTTP2_FLAG_END_STREAM, header) {
                contentEnded(on: header.stream_id)
            } else if header.length > 0, header.length <= frame.pointee.data.padlen,
                !floods.admits(.emptyData)
            {
                return breach(.enhanceYourCalm)
            }
        case NGHTTP2_RST_STREAM.rawValue:
            guard let stream = streams[header.stream_id] else { break }
            stream.isResetByPeer = true
            // One that was excused has cost nothing.
            let wasExcused = stream.begunAt == nil
            if role == .server, stream.sentCount > 0, !wasExcused { floods.receivedResetOfAnswer() }
        case NGHTTP2_SETTINGS.rawValue:
            if !Self.isSet(NGHTTP2_FLAG_ACK, header) {
                gotPeerSettings = true
            }
        case NGHTTP2_GOAWAY.rawValue:
            let goaway = frame.pointee.goaway
            receivedGoaway = (goaway.last_stream_id, HTTP2ErrorCode(rawValue: goaway.error_code))
        case NGHTTP2_WINDOW_UPDATE.rawValue:
            let increment = Int(frame.pointee.window_update.window_size_increment)
            floods.windowOpened(by: increment, ofConnection: header.stream_id == 0)
        default: break
        }
        return breach == nil
    }

    // MARK: Heads

    func headBegins(on id: Int32) {
        lines.drop()
        collector.value.begin()
        headStream = id
        guard role == .server, streams[id] == nil else { return }
        let stream = pool.take(id: id)
        stream.begunAt = age
        streams.insert(stream)
        // Answers share the connection's window, unless the head's `priority` says otherwise (RFC 9218 §4.2): one after the
        // other, as without a word, a large one would keep all others waiting.
        var priority = nghttp2_extpri(urgency: UInt32(NGHTTP2_EXTPRI_DEFAULT_URGENCY), inc: 1)
        nghttp2_session_change_extpri_stream_priority(handle, id, &priority, 0)
    }

    /// - Returns: false if the header list is an attack.
    func fieldArrived(_ name: Span<UInt8>, _ value: Span<UInt8>, flags: UInt8) -> Bool {
        let isNeverIndexed = flags & UInt8(NGHTTP2_NV_FLAG_NO_INDEX.rawValue) != 0
        let size = collector.value.take(
            name, value, isNeverIndexed: isNeverIndexed, limits.head, into: lines)
        guard size > bombBytes else { return true }
        hasBomb = true
        return breach(.enhanceYourCalm)
    }

    /// A client's request whose head has begun and will never be whole; its method is kept, as far as it is known.
    @discardableResult
    func brokenStream() -> HTTP2Stream? {
        guard role == .server, let stream = streams[headStream], !stream.isAnnounced else { return nil }
        stream.name(collector.value.isMethodTooLong ? HTTPMethod(rawValue: "") : collector.value.method)
        return stream
    }

    /// nghttp2 ends the connection, because it cannot decode a head.
    private func headBroke() {
        let broken = role == .server ? brokenStream() : streams[headStream].flatMap { $0.hasHead ? nil : $0 }
        guard let stream = broken, stream.resetCode == nil else { return }
        if role == .client { stream.fault = .undecodable }
        stream.resetCode = .compressionError
        touch(stream)
    }

    private func headArrived(on id: Int32, endsStream: Bool) {
        streams.lend(id) { headArrived(on: $0, endsStream: endsStream) }
    }

    private func headArrived(on stream: HTTP2Stream, endsStream: Bool) {
        collector.value.finish(lines)
        floods.receivedHead()
        if let fault = collector.value.fault, fault.status == MessageFault.headTooLarge.status {
            let isHead = role == .server ? !stream.isAnnounced : collector.value.status >= 0
            stream.fault = isHead ? fault : .trailersTooLarge
            // A few bytes may stand for much, so it counts by what they stand for: a cookie that has grown too large is no
            // attack. An upstream has one such head for each request of ours.
            let share = Double(collector.value.size) / Double(bombBytes)
            if role == .server, !floods.admits(.provokedReset, countingAs: share) {
                _ = breach(.enhanceYourCalm)
            }
        }
        switch role {
        case .server where !stream.isAnnounced:
            takeRequest(of: stream, endsStream: endsStream)
        case .client where collector.value.status >= 0: takeResponse(of: stream)
        case .server, .client:
            collector.value.giveTrailers(to: &stream.trailerFields)
            // Of a request without content this is the end that its head waits for.
            stream.hasHead = true
        }
        if endsStream {
            stream.hasEnd = true
            if stream.hasEndedApart { closeApart(stream) }
        }
        touch(stream)
    }

    private func takeRequest(of stream: HTTP2Stream, endsStream: Bool) {
        collector.value.fill(&stream.head)
        stream.fault = collector.value.fault
        stream.connectProtocol = collector.value.connectProtocol.map { String(decoding: $0, as: UTF8.self) }
        stream.declaredLength = stream.head.fields.checkedContentLength
        stream.isAnnounced = true
        // One without content that does not end may turn out to be malformed: nobody is told before it does.
        stream.hasHead = endsStream || stream.declaredLength != 0 || stream.fault != nil
    }

    private func takeResponse(of stream: HTTP2Stream) {
        // Of no class that there is (RFC 9110 §15), though nghttp2 takes it.
        guard collector.value.status >= 100 else {
            return refuse(stream, for: "a status below 100", .protocolError)
        }
        if HTTPResponse.isInterim(collector.value.status) {
            // Without end they would be memory without end.
            guard stream.responseCount < 32 else {
                return refuse(stream, for: "interim heads (1xx) without end", .enhanceYourCalm)
            }
        } else {
            stream.hasHead = true
            // That of a 304 is what a 200 would have had (RFC 9110 §8.6).
            stream.declaredLength = collector.value.status == 304 ? nil : collector.value.declaredLength
        }
        stream.append(response: &collector.value)
    }

    private func refuse(_ stream: HTTP2Stream, for rule: String, _ code: HTTP2ErrorCode) {
        stream.fault = .breaking(rule: rule)
        reset(stream, code)
    }

    // MARK: Content

    func contentArrived(_ bytes: Span<UInt8>, on id: Int32) {
        // Each stream has a window of its own: the connection's is not what holds anybody back.
        nghttp2_session_consume_connection(handle, bytes.count)
        streams.lend(id) { stream in
            guard stream.resetCode == nil else { return }
            stream.append(received: bytes)
            touch(stream)
        }
    }

    private func contentEnded(on id: Int32) {
        streams.lend(id) { stream in
            stream.hasEnd = true
            stream.hasHead = true
            if stream.hasEndedApart { closeApart(stream) }
            touch(stream)
        }
    }

    // MARK: The end of a stream

    func streamClosed(_ id: Int32, _ code: UInt32) {
        peerStreams.value.abandon(id)
        guard let stream = streams.remove(id) else { return }
        let code = HTTP2ErrorCode(rawValue: code)
        let endedWell = code == .noError && !stream.isResetByPeer && stream.resetCode == nil
        // Its content does not fit the length that it declares: the client is there, and no request is.
        if role == .server, code == .protocolError, !stream.isResetByPeer, stream.resetCode == nil,
            stream.hasHead
        {
            stream.fault = stream.fault ?? .malformed
        }
        stream.isUnprocessed = code == .refusedStream && (stream.isResetByPeer || receivedGoaway != nil)
        close(stream, endedWell ? nil : code)
    }

    /// A frame of ours was sent.
    func frameSent(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue:
            floods.sentContent(header.length)
            sent(header)
        case NGHTTP2_HEADERS.rawValue:
            endHead(in: frame)
            sent(header)
        case NGHTTP2_GOAWAY.rawValue where frame.pointee.goaway.last_stream_id == .max:
            ping()
        case NGHTTP2_GOAWAY.rawValue:
            isLeaving = true
            lastServed = frame.pointee.goaway.last_stream_id
            let code = HTTP2ErrorCode(rawValue: frame.pointee.goaway.error_code)
            if code != .noError { foundFault = code }
            if code == .compressionError { headBroke() }
        case NGHTTP2_RST_STREAM.rawValue: resetSent(header.stream_id, frame.pointee.rst_stream.error_code)
        default: break
        }
    }

    /// The memory of a head of ours is not needed any more: its first value is there, a status or a trailer's, or the method.
    private func endHead(in frame: UnsafePointer<nghttp2_frame>) {
        let headers = frame.pointee.headers
        outgoing.end(at: headers.nvlen > 0 ? headers.nva?.pointee.value.map { UnsafePointer($0) } : nil)
    }

    private func sent(_ header: nghttp2_frame_hd) {
        streams.lend(header.stream_id) { sent(header, on: $0) }
    }

    @inline(__always)
    private func sent(_ header: nghttp2_frame_hd, on stream: HTTP2Stream) {
        // They go before all else.
        if stream.interimCount > 0 { stream.interimCount -= 1 }
        if Self.isSet(NGHTTP2_FLAG_END_STREAM, header) {
            endSent(of: stream)
        } else if stream.endsAfterSending {
            endByHead(stream)
            endApart(stream)
        }
        if stream.isAwaited { touch(stream) }
    }

    func endSent(of stream: HTTP2Stream) {
        stream.hasSentEnd = true
        // Whoever has its answer need not send the rest of its request (RFC 9113 §8.1).
        if stream.isAnswered, !stream.hasEnd { reset(stream, .noError) }
    }

    /// Counts resets that the peer has brought about, and those of streams that it should not have begun.
    private func resetSent(_ id: Int32, _ code: UInt32) {
        peerStreams.value.abandon(id)
        let code = HTTP2ErrorCode(rawValue: code)
        // A stream that we have reset ourselves, or that is over, is no fault of the peer's.
        guard streams[id]?.resetCode == nil, !unsentResets.contains(id) else { return }
        // More of an answer that is malformed may be on its way.
        if role == .client {
            abandoned.insert(id)
            if code == .protocolError, let stream = streams[id], stream.fault == nil {
                stream.fault = .breaking(
                    rule: "a field, a length or an order of frames that HTTP/2 forbids (RFC 9113 §8.1)")
            }
        }
        if !floods.admits(code == .refusedStream ? .refusal : .provokedReset) { _ = breach(.enhanceYourCalm) }
    }

    /// A frame of ours will never be sent.
    func frameLost(_ frame: UnsafePointer<nghttp2_frame>) {
        let header = frame.pointee.hd
        guard UInt32(header.type) == NGHTTP2_HEADERS.rawValue else { return }
        endHead(in: frame)
        guard let stream = streams[header.stream_id], stream.resetCode == nil else { return }
        // nghttp2 closes the stream of a request by itself, and leaves that of an answer to us.
        guard role == .client else { return reset(stream, .internalError) }
        // A request of ours behind the peer's GOAWAY has not been seen by anybody.
        stream.isUnprocessed = receivedGoaway != nil
        stream.resetCode = .internalError
        touch(stream)
    }

    // MARK: Content that goes out

    /// Says how much content the next DATA frame of a stream has.
    func read(on id: Int32, atMost limit: Int, flags: inout UInt32) -> Int {
        let failure = Int(NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue)
        return streams.lend(id) { stream in
            guard stream.resetCode == nil else { return failure }
            if stream.hasEndedApart { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
            let unsent = stream.unsentCount
            let count = min(limit, unsent)
            guard count > 0 || stream.endsAfterSending else {
                stream.isDeferred = true
                return Int(NGHTTP2_ERR_DEFERRED.rawValue)
            }
            if count > 0 { flags |= NGHTTP2_DATA_FLAG_NO_COPY.rawValue }
            guard stream.endsAfterSending, count == unsent else { return count }
            flags |= NGHTTP2_DATA_FLAG_EOF.rawValue
            if stream.hasTrailersToSend {
                flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM.rawValue
                giveTrailers(of: stream)
            }
            return count
        } ?? failure
    }

    /// Writes a DATA frame: its header, and the content that ``read(on:atMost:flags:)`` has counted.
    func sendData(_ header: Span<UInt8>, _ length: Int, on id: Int32) -> CInt {
        guard framed.value.count < outputLimit else { return NGHTTP2_ERR_WOULDBLOCK.rawValue }
        let failure = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
        return streams.lend(id) { stream in
            guard stream.unsentCount >= length else { return failure }
            framed.value.append(header)
            stream.takeUnsent(length, into: &framed.value)
            framedCount &+= UInt64(length)
            waitingCount -= length
            return 0
        } ?? failure
    }
}
