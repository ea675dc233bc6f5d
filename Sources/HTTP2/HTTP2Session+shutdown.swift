// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import CBearerdNghttp2

/// PINGs, and an end in order.
extension HTTP2Session {
    /// Asks the peer for a sign of life (RFC 9113 §6.7); ``pongs`` grows with its answer.
    package func ping() {
        guard failure == nil else { return }
        pingCount += 1
        nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    /// Tells the peer that streams that it has begun so far, or may have on their way, are the last; ``pongs`` grows when
    /// it has read that.
    package func announceShutdown() {
        guard failure == nil else { return }
        nghttp2_submit_shutdown_notice(handle)
    }

    /// Tells the peer which stream of its was the last that is served; those that there are go on.
    package func shutDown() {
        guard failure == nil else { return }
        nghttp2_submit_goaway(
            handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nghttp2_session_get_last_proc_stream_id(handle),
            HTTP2ErrorCode.noError.rawValue, nil, 0)
    }

    /// Puts a PING behind all that is said on a connection that is over here; ``isHeardOut`` once the peer has answered it.
    package func pingLast() {
        guard failure == nil, isOver else { return }
        // By hand: nghttp2 is done with the connection.
        let bytes: [UInt8] = [0, 0, 8, 6, 0, 0, 0, 0, 0] + Array(repeating: 0, count: 8)
        framed.value.append(bytes.span)
        pingCount += 1
        hasPingedLast = true
    }

    /// True once the peer has read all that was said: it answers PINGs in their order.
    package var isHeardOut: Bool { hasPingedLast && pongCount >= pingCount }
}
