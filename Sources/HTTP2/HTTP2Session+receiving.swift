// SPDX-License-Identifier: Apache-2.0

internal import CBearerdNghttp2

/// Checks of received bytes before nghttp2 reads them.
extension HTTP2Session {
    /// Takes bytes that the peer has sent, all of them.
    ///
    /// - Parameter now: for the budgets of what the peer may send without end.
    package func receive(_ bytes: Span<UInt8>, at now: ContinuousClock.Instant) {
        floods.refill(at: now)
        var start = 0
        var position = 0
        while position < bytes.count {
            position += scanner.skip(atMost: bytes.count - position)
            guard position < bytes.count else { break }
            let begun = scanner.part.count
            let end = min(bytes.count, position + FrameScanner.headerLength - begun)
            if begun == 0, end - position == FrameScanner.headerLength {
                guard admits(scanner.read(bytes.extracting(position..<end))) else {
                    if feed(bytes.extracting(start..<position)) { fail(.enhanceYourCalm) }
                    return
                }
                position = end
                continue
            }
            guard feed(bytes.extracting(start..<position)) else { return }
            let header = scanner.complete(with: bytes.extracting(position..<end))
            position = end
            start = end
            guard let header else { return }
            guard admits(scanner.read(header.span)) else { return fail(.enhanceYourCalm) }
            guard feed(header.span) else { return }
        }
        _ = feed(bytes.extracting(start..<position))
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

    /// - Returns: false if the peer has sent too many of this kind.
    private func admits(_ header: FrameScanner.Header) -> Bool {
        let isAcknowledgement = header.flags & UInt8(NGHTTP2_FLAG_ACK.rawValue) != 0
        switch UInt32(header.type) {
        case NGHTTP2_DATA.rawValue:
            // Here, where those on streams that are over count too.
            let endsStream = header.flags & UInt8(NGHTTP2_FLAG_END_STREAM.rawValue) != 0
            return header.length > 0 || endsStream || floods.admits(.emptyData)
        case NGHTTP2_HEADERS.rawValue, NGHTTP2_CONTINUATION.rawValue,
            NGHTTP2_GOAWAY.rawValue, NGHTTP2_PUSH_PROMISE.rawValue:
            return true
        case NGHTTP2_PING.rawValue: return isAcknowledgement || floods.admits(.ping)
        case NGHTTP2_SETTINGS.rawValue: return floods.admits(.settings)
        case NGHTTP2_WINDOW_UPDATE.rawValue: return floods.admits(.windowUpdate)
        case NGHTTP2_PRIORITY.rawValue: return floods.admits(.priority)
        case NGHTTP2_RST_STREAM.rawValue: return floods.admits(.reset)
        default: return floods.admits(.unknown)
        }
    }
}
