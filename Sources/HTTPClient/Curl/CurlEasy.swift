// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem
internal import CBearerdLibcurl

/// One libcurl easy handle; exactly one owner creates, configures and cleans it up.
struct CurlEasy: ~Copyable {
    /// For use by ``CurlMulti`` and ``CurlWire`` only.
    let handle: UnsafeMutableRawPointer

    /// - Throws: ``CurlError`` if memory is short.
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

    /// Sets a string, which libcurl copies; nil unsets the option, which does not always restore libcurl's
    /// default.
    func set(_ option: CURLoption, to value: String?) throws(CurlError) {
        try bearerd_easy_setopt_string(handle, option, value).check()
    }

    /// Sets a pointer that libcurl passes to callbacks or reads later; the caller keeps its target alive.
    func set(_ option: CURLoption, to value: UnsafeMutableRawPointer?) throws(CurlError) {
        try bearerd_easy_setopt_pointer(handle, option, value).check()
    }

    func set(_ option: CURLoption, to value: curl_write_callback) throws(CurlError) {
        try bearerd_easy_setopt_transfer_function(handle, option, value).check()
    }

    /// Makes libcurl show what it receives, as it came over the connection.
    func setDebugFunction(_ show: curl_debug_callback) throws(CurlError) {
        try bearerd_easy_setopt_debug_function(handle, show).check()
        try set(CURLOPT_VERBOSE, to: true)
    }

    /// Makes libcurl ask now and then whether the transfer is to go on.
    func setProgressFunction(_ ask: curl_xferinfo_callback) throws(CurlError) {
        try bearerd_easy_setopt_progress_function(handle, ask).check()
        try set(CURLOPT_NOPROGRESS, to: false)
    }

    /// Makes libcurl use the sockets that `open` creates; libcurl closes them.
    func setSocketOpener(_ open: curl_opensocket_callback) throws(CurlError) {
        try bearerd_easy_setopt_open_socket_function(handle, open).check()
    }

    /// Makes libcurl send nothing to a Unix socket at which a user outside ``CurlAttachments/owners`` listens, nor what
    /// ``CurlAttachments/maySend`` withholds.
    ///
    /// libcurl asks between connecting, TLS included, and sending (`CURLOPT_PREREQFUNCTION`), and the kernel knows the user
    /// at once.
    ///
    /// - Parameter attachments: kept by the caller for as long as this handle.
    func askBeforeSending(_ attachments: CurlAttachments) throws(CurlError) {
        try set(CURLOPT_PREREQDATA, to: Unmanaged.passUnretained(attachments).toOpaque())
        try bearerd_easy_setopt_prerequest_function(handle, onConnected).check()
    }

    /// Makes libcurl treat the sockets that it is given as connected.
    func takeSocketsForConnected() throws(CurlError) {
        try bearerd_easy_setopt_socket_function(handle) { _, _, _ in CURL_SOCKOPT_ALREADY_CONNECTED }.check()
    }

    /// Sets a list of strings, which `attachments` owns; the caller keeps it for as long as this handle.
    func set(_ option: CURLoption, to lines: [String], keptBy attachments: CurlAttachments) throws(CurlError)
    {
        try bearerd_easy_setopt_list(handle, option, attachments.list(of: lines)).check()
    }

    /// Makes libcurl send a copy of `body`.
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

    /// Limits the duration of a phase, rounded up to a millisecond.
    ///
    /// - Parameter limit: zero or less means no limit, which libcurl can only express as a very long one.
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

    /// The time from the start to the end of a phase in microseconds; 0 if it has not ended
    /// (`CURLINFO_*_TIME_T`).
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
    if let owners = attachments.owners {
        let user = PeerUser(ofUnixSocket: attachments.socket)
        guard user.isAmong(owners) else {
            attachments.stranger = user
            return CInt(CURL_PREREQFUNC_ABORT)
        }
    }
    attachments.isWithheld = attachments.maySend.map { !$0() } ?? false
    return CInt(attachments.isWithheld ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK)
}
