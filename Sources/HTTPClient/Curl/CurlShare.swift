// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl

/// What the connections to one upstream have in common: the addresses of its name, and the TLS sessions that they
/// resume, so that all but the first save a full handshake.
///
/// One for each upstream and worker: libcurl's session key knows nothing of the ``TrustStore``, and a session that
/// one set of authorities vouched for must not be resumed under another. Libcurl forgets addresses by its own rules
/// alone: to have a name asked for anew, begin a new one. Confined to its loop's thread, hence no locks.
final class CurlShare {
    private let handle: UnsafeMutableRawPointer

    /// - Throws: ``CurlError`` when memory is short.
    init() throws(CurlError) {
        guard let handle = curl_share_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        self.handle = handle
        for kind in [CURL_LOCK_DATA_DNS, CURL_LOCK_DATA_SSL_SESSION] {
            guard bearerd_share_setopt_long(handle, CURLSHOPT_SHARE, Int(kind.rawValue)) == CURLSHE_OK else {
                throw CurlError(CURLE_NOT_BUILT_IN)
            }
        }
    }

    /// Every handle that uses it holds it, so none is left now.
    deinit { curl_share_cleanup(handle) }

    /// Lets `easy` use it; the caller keeps this object for as long as the handle.
    func join(_ easy: borrowing CurlEasy) throws(CurlError) {
        try easy.set(CURLOPT_DNS_CACHE_TIMEOUT, to: -1)
        try bearerd_easy_setopt_share(easy.handle, handle).check()
    }
}
