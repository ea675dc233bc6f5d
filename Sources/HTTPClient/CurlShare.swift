// SPDX-License-Identifier: Apache-2.0

internal import CLibcurl

/// TLS sessions that the connections to one upstream resume, so that all but the first save a full handshake.
///
/// One for each upstream and worker: libcurl's session key knows nothing of the ``TrustStore``, and a session that
/// one set of authorities vouched for must not be resumed under another. Confined to its loop's thread, hence no locks.
final class CurlShare {
    private let handle: UnsafeMutableRawPointer

    /// - Throws: ``CurlError`` when memory is short.
    init() throws(CurlError) {
        guard let handle = curl_share_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        self.handle = handle
        let status = bearerd_share_setopt_long(
            handle, CURLSHOPT_SHARE, Int(CURL_LOCK_DATA_SSL_SESSION.rawValue))
        guard status == CURLSHE_OK else { throw CurlError(CURLE_NOT_BUILT_IN) }
    }

    /// Every handle that uses it holds it, so none is left now.
    deinit { curl_share_cleanup(handle) }

    /// Lets `easy` use the sessions; the caller keeps this object for as long as the handle.
    func join(_ easy: borrowing CurlEasy) throws(CurlError) {
        try bearerd_easy_setopt_share(easy.handle, handle).check()
    }
}
