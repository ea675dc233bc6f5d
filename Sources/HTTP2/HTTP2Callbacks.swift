// SPDX-License-Identifier: Apache-2.0

internal import CBearerdNghttp2

/// nghttp2's side: recovers the session, and calls one method of it, which never calls nghttp2's `mem_recv` or `mem_send`.
enum HTTP2Callbacks {
    static func set(in callbacks: OpaquePointer?) {
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, onBeginHeaders)
        nghttp2_session_callbacks_set_on_header_callback(callbacks, onHeader)
        nghttp2_session_callbacks_set_on_invalid_header_callback(callbacks, onInvalidHeader)
        nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(callbacks, onInvalidFrame)
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, onDataChunk)
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, onFrame)
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, onStreamClose)
        nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, onFrameSend)
        nghttp2_session_callbacks_set_on_frame_not_send_callback(callbacks, onFrameNotSend)
        nghttp2_session_callbacks_set_send_data_callback(callbacks, onSendData)
    }

    /// Lends what has content come from ``HTTP2Stream/sending``, or nil where there is none; nghttp2 copies it.
    static func withProvider(
        ifNeeded isNeeded: Bool, _ body: (UnsafePointer<nghttp2_data_provider>?) -> Int32
    ) -> Int32 {
        guard isNeeded else { return body(nil) }
        return withUnsafePointer(
            to: nghttp2_data_provider(source: nghttp2_data_source(), read_callback: onRead), body)
    }
}

private let success: CInt = 0
private let failed = NGHTTP2_ERR_CALLBACK_FAILURE.rawValue

/// The session outlives each call of nghttp2's functions, and so needs no retain.
private func withSession<Result>(
    _ context: UnsafeMutableRawPointer?, otherwise failure: Result, _ body: (HTTP2Session) -> Result
) -> Result {
    guard let context else { return failure }
    return Unmanaged<HTTP2Session>.fromOpaque(context)._withUnsafeGuaranteedRef { body($0) }
}

private func onBeginHeaders(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ context: UnsafeMutableRawPointer?
) -> CInt {
    guard let id = frame?.pointee.hd.stream_id else { return failed }
    return withSession(context, otherwise: failed) {
        $0.headBegins(on: id)
        return success
    }
}

private func onHeader(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ name: UnsafePointer<UInt8>?,
    _ nameLength: Int,
    _ value: UnsafePointer<UInt8>?, _ valueLength: Int, _ flags: UInt8,
    _ context: UnsafeMutableRawPointer?
) -> CInt {
    let name = UnsafeBufferPointer(start: name, count: nameLength)
    let value = UnsafeBufferPointer(start: value, count: valueLength)
    return withSession(context, otherwise: failed) {
        $0.fieldArrived(name.span, value.span, flags: flags) ? success : failed
    }
}

/// Without it nghttp2 would leave the field out, and pass the rest on.
private func onInvalidHeader(
    _: OpaquePointer?, _: UnsafePointer<nghttp2_frame>?, _: UnsafePointer<UInt8>?, _: Int,
    _: UnsafePointer<UInt8>?, _: Int, _: UInt8, _: UnsafeMutableRawPointer?
) -> CInt {
    NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue
}

/// The rest of the head is not told any more.
private func onInvalidFrame(
    _: OpaquePointer?, _: UnsafePointer<nghttp2_frame>?, _: CInt, _ context: UnsafeMutableRawPointer?
) -> CInt {
    withSession(context, otherwise: failed) {
        $0.brokenStream()
        return success
    }
}

private func onDataChunk(
    _: OpaquePointer?, _: UInt8, _ id: Int32, _ bytes: UnsafePointer<UInt8>?, _ count: Int,
    _ context: UnsafeMutableRawPointer?
) -> CInt {
    let bytes = UnsafeBufferPointer(start: bytes, count: count)
    return withSession(context, otherwise: failed) {
        $0.contentArrived(bytes.span, on: id)
        return success
    }
}

private func onFrame(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ context: UnsafeMutableRawPointer?
) -> CInt {
    guard let frame else { return failed }
    return withSession(context, otherwise: failed) { $0.frameArrived(frame) ? success : failed }
}

private func onStreamClose(
    _: OpaquePointer?, _ id: Int32, _ code: UInt32, _ context: UnsafeMutableRawPointer?
) -> CInt {
    withSession(context, otherwise: success) {
        $0.streamClosed(id, code)
        return success
    }
}

private func onFrameSend(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ context: UnsafeMutableRawPointer?
) -> CInt {
    guard let frame else { return failed }
    return withSession(context, otherwise: failed) {
        $0.frameSent(frame)
        return success
    }
}

private func onFrameNotSend(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _: CInt, _ context: UnsafeMutableRawPointer?
) -> CInt {
    guard let frame else { return failed }
    return withSession(context, otherwise: failed) {
        $0.frameLost(frame)
        return success
    }
}

private func onRead(
    _: OpaquePointer?, _ id: Int32, _: UnsafeMutablePointer<UInt8>?, _ length: Int,
    _ flags: UnsafeMutablePointer<UInt32>?, _: UnsafeMutablePointer<nghttp2_data_source>?,
    _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let flags else { return Int(failed) }
    return withSession(context, otherwise: Int(failed)) {
        $0.read(on: id, atMost: length, flags: &flags.pointee)
    }
}

private func onSendData(
    _: OpaquePointer?, _ frame: UnsafeMutablePointer<nghttp2_frame>?, _ header: UnsafePointer<UInt8>?,
    _ length: Int, _: UnsafeMutablePointer<nghttp2_data_source>?, _ context: UnsafeMutableRawPointer?
) -> CInt {
    guard let id = frame?.pointee.hd.stream_id, let header else { return failed }
    return withSession(context, otherwise: failed) {
        $0.sendData(UnsafeBufferPointer(start: header, count: 9).span, length, on: id)
    }
}
