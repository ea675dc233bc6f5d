// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import CBearerdNghttp2

/// Ends of requests, and of tunnels, that a shut window does not hold up.
///
/// DATA without content may go whatever the windows are (RFC 9113 §6.9.1), but nghttp2 has it wait for one: a call whose
/// neighbours have used up the connection's would not end before they are read. Such an end is framed here, past nghttp2. Once the
/// peer has ended its direction too, nghttp2 closes the stream with a reset, which nobody is sent.
extension HTTP2Session {
    /// Has an end framed here if a window should hold it up: where no HEADERS can be the end, and no content is before it.
    func endApart(_ stream: HTTP2Stream) {
        guard stream.unsentCount == 0, !stream.hasGivenEnd, role == .client || stream.connectProtocol != nil
        else { return }
        shutEnds.append(stream)
    }

    /// Frames the ends that a window holds up; nghttp2 has framed all that it can, and is between two frames.
    ///
    /// - Returns: true if there were some, so that nghttp2 may have more to do.
    func frameShutEnds() -> Bool {
        let waiting = shutEnds
        shutEnds = []
        var hasFramed = false
        for stream in waiting
        where !stream.hasSentEnd && !stream.isClosed && stream.resetCode == nil && stream.endsAfterSending {
            // A head may still be to come, or wait for the limit of streams.
            guard window(of: stream) <= 0, stream.hasBegunSending, !isUnframed(stream),
                stream.unsentCount == 0
            else {
                shutEnds.append(stream)
                continue
            }
            let id = UInt32(bitPattern: stream.id)
            let end: [UInt8] =
                [0, 0, 0, UInt8(NGHTTP2_DATA.rawValue), UInt8(NGHTTP2_FLAG_END_STREAM.rawValue)]
                + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> $0) }
            framed.value.append(end.span)
            stream.hasEndedApart = true
            endSent(of: stream)
            if stream.hasEnd { closeApart(stream) }
            hasFramed = true
        }
        return hasFramed
    }

    /// Has nghttp2 close a stream that both sides have ended.
    func closeApart(_ stream: HTTP2Stream) {
        unsentResets.append(stream.id)
        nghttp2_submit_rst_stream(
            handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), stream.id, HTTP2ErrorCode.noError.rawValue)
    }

    /// True, once for each, of a frame by which nghttp2 closes a stream that both sides have ended.
    @inline(__always)
    func isUnsentReset(_ frame: Span<UInt8>) -> Bool {
        guard !unsentResets.isEmpty, frame.count == 13, frame[3] == UInt8(NGHTTP2_RST_STREAM.rawValue) else {
            return false
        }
        let id = (5..<9).reduce(Int32(0)) { $0 << 8 | Int32(frame[$1]) }
        guard let index = unsentResets.firstIndex(of: id) else { return false }
        unsentResets.remove(at: index)
        return true
    }
}
