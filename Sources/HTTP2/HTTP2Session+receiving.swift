// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdSystem
internal import CBearerdNghttp2

/// Checks of received bytes before nghttp2 reads them.
extension HTTP2Session {
    /// Takes bytes that the peer has sent, all of them.
    ///
    /// - Parameter now: for the budgets of what the peer may send without end.
    package func receive(_ bytes: Span<UInt8>, at now: ContinuousClock.Instant) {
        refill(at: now)
        guard failure == nil else { return }
        if nghttp2_session_get_outbound_queue_size(handle) > outboundLimit || holdsTooManyHeads {
            return fail(.enhanceYourCalm)
        }
        var start = 0
        var position = 0
        while position < bytes.count {
            let skipped = scanner.skip(atMost: bytes.count - position)
            if settingsScanner.rest > 0,
                let fault = faultOfSettings(bytes.extracting(position..<(position + skipped)))
            {
                // What came before the frame is read already.
                return fail(fault)
            }
            position += skipped
            if isInsideHidden { start = position }
            guard position < bytes.count else { break }
            isInsideHidden = false
            let begun = scanner.part.count
            let end = min(bytes.count, position + FrameScanner.headerLength - begun)
            if begun == 0, end - position == FrameScanner.headerLength {
                let header = scanner.read(bytes.extracting(position..<end))
                if dependsOnEarlierFrames(header) {
                    guard feed(bytes.extracting(start..<position)) else { return }
                    start = position
                    hasUnreadEarnings = false
                }
                if let fault = fault(of: header) {
                    if feed(bytes.extracting(start..<position)) { fail(fault) }
                    return
                }
                note(header)
                if isHidden(header) {
                    guard feed(bytes.extracting(start..<position)) else { return }
                    start = end
                }
                position = end
                continue
            }
            guard feed(bytes.extracting(start..<position)) else { return }
            let header = scanner.complete(with: bytes.extracting(position..<end))
            position = end
            start = end
            guard let header else { return }
            let read = scanner.read(header.span)
            hasUnreadEarnings = false
            if let fault = fault(of: read) { return fail(fault) }
            note(read)
            guard isHidden(read) || feed(header.span) else { return }
        }
        _ = feed(bytes.extracting(start..<position))
    }

    /// Says if nghttp2 does not get a frame, which is so of a client's GOAWAY in order.
    ///
    /// It would read no stream that the client begins behind that, though the frame forbids its receiver alone to begin any
    /// (RFC 9113 §6.8).
    private func isHidden(_ header: FrameScanner.Header) -> Bool {
        guard role == .server, UInt32(header.type) == NGHTTP2_GOAWAY.rawValue, header.stream == 0,
            (8...16_384).contains(header.length)
        else { return false }
        peerIsLeaving = true
        isInsideHidden = true
        return true
    }

    /// How many frames may wait for a peer that makes us send them and reads nothing, DATA excepted.
    private var outboundLimit: Int { 4096 + 8 * limits.streams }

    /// Says if heads of answers wait for a client that would need more memory than two of the largest for each of its streams.
    ///
    /// nghttp2 keeps those of streams that the client has reset, too, until there is room to send.
    private var holdsTooManyHeads: Bool {
        let largest = max(limits.head.headerBytes, HeadMemory.chunkSize)
        return role == .server && outgoing.held > 2 * max(limits.streams, streamCount) * largest
    }

    /// Counts in the time since the last call.
    private func refill(at now: ContinuousClock.Instant) {
        defer { refilledAt = now }
        guard let refilledAt else { return }
        let (seconds, attoseconds) = refilledAt.duration(to: now).components
        let passed = Double(seconds) + Double(attoseconds) / 1e18
        guard passed > 0 else { return }
        age += passed
        floods.refill(seconds: passed)
    }

    /// - Returns: false if the connection has failed.
    private func feed(_ bytes: Span<UInt8>) -> Bool {
        guard failure == nil else { return false }
        guard !bytes.isEmpty else { return true }
        let result = bytes.withUnsafeBufferPointer {
            nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count)
        }
        if let breach {
            fail(breach)
        } else if result < 0 {
            fail(Self.code(of: Int32(truncatingIfNeeded: result)))
        }
        return failure == nil
    }

    private static func code(of error: Int32) -> HTTP2ErrorCode {
        // Debian's 1.52 has no name for it: too many CONTINUATION frames.
        let tooManyContinuations: Int32 = -905
        switch error {
        case NGHTTP2_ERR_FLOODED.rawValue, NGHTTP2_ERR_TOO_MANY_SETTINGS.rawValue, tooManyContinuations:
            return .enhanceYourCalm
        case NGHTTP2_ERR_NOMEM.rawValue: return .internalError
        default: return .protocolError
        }
    }

    /// Says if nghttp2 must have read the frames in front of one before that is judged, so that the verdict does not depend
    /// on how many of them the network brings at once.
    private func dependsOnEarlierFrames(_ header: FrameScanner.Header) -> Bool {
        // nghttp2 reads nothing more behind the last stream's end, but looks for that only between two calls.
        if isLeaving { return true }
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue where header.length == 0 && !header.endsStream && hasUnreadEarnings:
            return true
        case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
            // A server judges by the client's frames alone, and has seen them all.
            return role == .client && streams[header.stream]?.isEnding == true
        case NGHTTP2_CONTINUATION.rawValue: return false
        // Its stream may be one that an unread frame makes us end.
        case NGHTTP2_RST_STREAM.rawValue: return true
        // An unread frame may change a window.
        case NGHTTP2_SETTINGS.rawValue: return true
        default: return hasUnreadEarnings
        }
    }

    /// Remembers what the verdict on later frames depends on.
    @inline(__always)
    private func note(_ header: FrameScanner.Header) {
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
            hasUnreadEarnings = true
            if role == .client, header.endsStream { streams[header.stream]?.isEnding = true }
        case NGHTTP2_CONTINUATION.rawValue: hasUnreadEarnings = true
        case NGHTTP2_RST_STREAM.rawValue:
            hasUnreadEarnings = true
            if role == .client { streams[header.stream]?.isEnding = true }
        case NGHTTP2_WINDOW_UPDATE.rawValue where floods.isShortOfWindowUpdates: hasUnreadEarnings = true
        case NGHTTP2_GOAWAY.rawValue where role == .client: isLeaving = true
        // Here, where those count too that come when nghttp2 reads nothing more.
        case NGHTTP2_PING.rawValue where header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0: pongCount += 1
        case NGHTTP2_SETTINGS.rawValue:
            windowsBefore = (streams.all.map { streamWindow(of: $0) }.max() ?? 0, initialWindow)
            // The rest is for nghttp2 to refuse.
            let acknowledges = header.flags & 0x1 != 0
            let isWhole = header.stream == 0 && header.length % SettingsScanner.parameterLength == 0
            if isWhole, !acknowledges { settingsScanner.begin(length: header.length) }
        default: break
        }
    }

    /// Judges a frame by its header.
    ///
    /// - Returns: the fault of the peer, which ends the connection; nil if it may send the frame.
    @inline(__always)
    private func fault(of header: FrameScanner.Header) -> HTTP2ErrorCode? {
        // Before its stream is judged, which may be over.
        if header.interruptsHead { return .protocolError }
        let isAdmitted: Bool
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue:
            if let fault = faultOfStream(header, beginsStream: false) { return fault }
            // Here, where those on streams that are over count too.
            isAdmitted = header.length > 0 || header.endsStream || floods.admits(.emptyData)
        case NGHTTP2_HEADERS.rawValue:
            isHeadLate = false
            return faultOfStream(header, beginsStream: role == .server)
        // nghttp2 judges the length of a head's first frame alone (RFC 9113 §4.2).
        case NGHTTP2_CONTINUATION.rawValue where header.length > FrameScanner.largestFrame:
            return .frameSizeError
        case NGHTTP2_CONTINUATION.rawValue where header.continuations > continuationLimit:
            floods.exceed(.continuation)
            return .enhanceYourCalm
        // It costs as much to read as the rest of its head.
        case NGHTTP2_CONTINUATION.rawValue where isHeadLate: return faultOfLate(header)
        case NGHTTP2_CONTINUATION.rawValue where header.followsCrumb:
            isAdmitted = floods.admits(.continuation)
        case NGHTTP2_CONTINUATION.rawValue: isAdmitted = true
        // No client pushes, and no server whose request comes behind SETTINGS that forbid it (RFC 9113 §8.4).
        case NGHTTP2_PUSH_PROMISE.rawValue: return .protocolError
        // Of a connection, too, and there are few of them.
        case NGHTTP2_GOAWAY.rawValue: isAdmitted = floods.admits(.settings)
        // Acknowledgements too: of ours there are few.
        case NGHTTP2_PING.rawValue: isAdmitted = floods.admits(.ping)
        case NGHTTP2_SETTINGS.rawValue: isAdmitted = floods.admits(.settings)
        case NGHTTP2_WINDOW_UPDATE.rawValue: isAdmitted = floods.admits(.windowUpdate)
        case NGHTTP2_PRIORITY.rawValue:
            // nghttp2 does not read what it is told to ignore (RFC 9113 §6.3).
            guard header.stream != 0 else { return .protocolError }
            isAdmitted = floods.admits(.priority)
        case NGHTTP2_RST_STREAM.rawValue:
            peerStreams.value.reset(header.stream)
            isAdmitted =
                abandoned.forgivesReset(of: header.stream) || excusesReset(of: header.stream)
                || floods.admits(.reset)
        default: isAdmitted = floods.admits(.unknown)
        }
        return isAdmitted ? nil : .enhanceYourCalm
    }

    /// How long a stream lives at least for its reset to be nothing that hurries.
    ///
    /// A client whose calls run out of time resets every one of them, for as long as an upstream is slow. What makes rapid
    /// resets an attack, more requests under way than the limit of streams allows, these cannot bring about: one connection
    /// begins at most twenty times the limit of them in a second.
    private static let lasting = 0.05

    /// - Returns: true, once for each stream, if the client resets one that was there for long enough.
    private func excusesReset(of id: Int32) -> Bool {
        guard let stream = streams[id], let begunAt = stream.begunAt, age - begunAt >= Self.lasting else {
            return false
        }
        stream.begunAt = nil
        return true
    }

    /// Judges the parameters in the bytes of a SETTINGS frame (RFC 9113 §6.5.2, RFC 8441 §3, RFC 9218 §2.1).
    private func faultOfSettings(_ bytes: Span<UInt8>) -> HTTP2ErrorCode? {
        settingsScanner.take(bytes) { id, value in
            switch Int32(id) {
            case Int32(NGHTTP2_SETTINGS_ENABLE_PUSH.rawValue):
                return value <= (role == .server ? 1 : 0) ? nil : .protocolError
            case Int32(NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE.rawValue):
                return windowsAdmit(Int(value)) ? nil : .flowControlError
            case Int32(NGHTTP2_SETTINGS_MAX_FRAME_SIZE.rawValue):
                return (1 << 14..<1 << 24).contains(value) ? nil : .protocolError
            case Int32(NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL.rawValue),
                Int32(NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES.rawValue):
                return value <= 1 ? nil : .protocolError
            default: return nil
            }
        }
    }

    /// Counts in another size of the windows that streams begin with.
    ///
    /// - Returns: false if it makes one too large, which ends the connection (RFC 9113 §6.9.2); nghttp2 resets the stream alone.
    private func windowsAdmit(_ size: Int) -> Bool {
        windowsBefore.largest += size - windowsBefore.initial
        windowsBefore.initial = size
        return max(size, windowsBefore.largest) <= Int(Int32.max)
    }

    /// Judges whether the frame's stream may have one.
    private func faultOfStream(_ header: FrameScanner.Header, beginsStream: Bool) -> HTTP2ErrorCode? {
        switch role {
        case .client:
            // Our own streams: who is gone from here was ended by either side.
            if header.stream != 0, streams[header.stream] == nil { return faultOfLate(header) }
        case .server:
            switch peerStreams.value.judge(header, beginsStream: beginsStream, upTo: lastServed) {
            case .expected where header.stream <= lastServed: break
            // nghttp2 passes over what comes behind our GOAWAY, without end and without a word.
            case .expected, .late: return faultOfLate(header)
            case .breach(let code): return code
            case .flood:
                floods.exceed(.refusal)
                return .enhanceYourCalm
            }
        }
        return nil
    }

    /// Judges a frame on a stream that is over here: beyond what the peer may have sent before it knew, large frames count
    /// for more.
    private func faultOfLate(_ header: FrameScanner.Header) -> HTTP2ErrorCode? {
        if UInt32(header.type) == NGHTTP2_HEADERS.rawValue { isHeadLate = true }
        if abandoned.forgives(header) { return nil }
        return floods.admitsLate(header.length) ? nil : .enhanceYourCalm
    }
}
