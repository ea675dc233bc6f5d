// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl
internal import BearerdSystem

/// One libcurl easy handle: created, configured and cleaned up by exactly one owner.
struct CurlEasy: ~Copyable {
    /// For ``CurlMulti`` and ``CurlWire`` alone.
    let handle: UnsafeMutableRawPointer

    /// - Throws: ``CurlError`` when memory is short.
    init() throws(CurlError) {
        guard let handle = curl_easy_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        self.handle = handle
    }

    deinit { curl_easy_cleanup(handle) }

    // MARK: Options

    func set(_ option: CURLoption, to value: Int) throws(CurlError) {
        try bearerd_easy_setopt_long(handle, option, value).check()
    }

    func set(_ option: CURLoption, to value: Bool) throws(CurlError) {
        try set(option, to: value ? 1 : 0)
    }

    /// Libcurl keeps a copy of `value`; nil goes back to nothing, which is not always libcurl's default.
    func set(_ option: CURLoption, to value: String?) throws(CurlError) {
        try bearerd_easy_setopt_string(handle, option, value).check()
    }

    /// A pointer that libcurl hands on to callbacks or reads later: the caller keeps what it points at.
    func set(_ option: CURLoption, to value: UnsafeMutableRawPointer?) throws(CurlError) {
        try bearerd_easy_setopt_pointer(handle, option, value).check()
    }

    func set(_ option: CURLoption, to value: curl_write_callback) throws(CurlError) {
        try bearerd_easy_setopt_transfer_function(handle, option, value).check()
    }

    /// Has libcurl use sockets that `open` makes; it closes them itself.
    func setSocketOpener(_ open: curl_opensocket_callback) throws(CurlError) {
        try bearerd_easy_setopt_open_socket_function(handle, open).check()
    }

    /// Has libcurl send nothing to a Unix socket at which others than ``CurlAttachments/owners`` listen.
    ///
    /// The kernel knows at once who does: libcurl asks between connecting and sending (`CURLOPT_PREREQFUNCTION`).
    ///
    /// - Parameter attachments: kept by the caller for as long as this handle.
    func sendToOwnersAlone(_ attachments: CurlAttachments) throws(CurlError) {
        try set(CURLOPT_PREREQDATA, to: Unmanaged.passUnretained(attachments).toOpaque())
        try bearerd_easy_setopt_prerequest_function(handle, onConnected).check()
    }

    /// Has libcurl take the sockets that it is given for connected.
    func takeSocketsForConnected() throws(CurlError) {
        try bearerd_easy_setopt_socket_function(handle) { _, _, _ in CURL_SOCKOPT_ALREADY_CONNECTED }.check()
    }

    /// The caller keeps `attachments` for as long as this handle.
    func set(_ option: CURLoption, to lines: [String], keptBy attachments: CurlAttachments) throws(CurlError)
    {
        try bearerd_easy_setopt_list(handle, option, attachments.list(of: lines)).check()
    }

    /// Has libcurl send a copy of `body`.
    func setBody(_ body: [UInt8]) throws(CurlError) {
        try bearerd_easy_setopt_large(handle, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count)).check()
        let status = body.withUnsafeBytes { bytes in
            // Nil would make libcurl read the body from standard input.
            withUnsafePointer(to: UInt8(0)) { empty in
                bearerd_easy_setopt_pointer(
                    handle, CURLOPT_COPYPOSTFIELDS,
                    UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(empty)))
            }
        }
        try status.check()
    }

    /// Limits a phase; rounds up to a millisecond.
    ///
    /// - Parameter limit: zero or less means no limit, for which libcurl has no word where its default is one.
    func set(_ option: CURLoption, to limit: Duration) throws(CurlError) {
        let (seconds, attoseconds) = limit.components
        guard limit > .zero else { return try set(option, to: Int(Int32.max)) }
        let milliseconds =
            min(seconds, 2_000_000) * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000
        try set(option, to: Int(milliseconds))
    }

    // MARK: Results

    func number(_ info: CURLINFO) -> Int {
        var value = 0
        return bearerd_easy_getinfo_long(handle, info, &value) == CURLE_OK ? value : 0
    }

    /// How long after the start a phase had ended, in microseconds; 0 when it has not (`CURLINFO_*_TIME_T`).
    func microseconds(_ info: CURLINFO) -> Int64 {
        var value: curl_off_t = 0
        return bearerd_easy_getinfo_large(handle, info, &value) == CURLE_OK ? Int64(value) : 0
    }

    /// The descriptor of a `CURLOPT_CONNECT_ONLY` connection, which libcurl owns (`CURLINFO_ACTIVESOCKET`).
    var activeSocket: Int32? {
        var value: curl_socket_t = -1
        guard bearerd_easy_getinfo_socket(handle, CURLINFO_ACTIVESOCKET, &value) == CURLE_OK, value >= 0
        else {
            return nil
        }
        return value
    }
}

/// Called by libcurl when a connection is made, before anything is sent (`CURLOPT_PREREQFUNCTION`).
private func onConnected(
    _ context: UnsafeMutableRawPointer?, _: UnsafeMutablePointer<CChar>?, _: UnsafeMutablePointer<CChar>?,
    _: CInt, _: CInt
) -> CInt {
    guard let context else { return CInt(CURL_PREREQFUNC_ABORT) }
    let attachments = Unmanaged<CurlAttachments>.fromOpaque(context).takeUnretainedValue()
    let user = PeerUser(ofUnixSocket: attachments.socket)
    guard let owners = attachments.owners, !user.isAmong(owners) else { return CInt(CURL_PREREQFUNC_OK) }
    attachments.stranger = user
    return CInt(CURL_PREREQFUNC_ABORT)
}
