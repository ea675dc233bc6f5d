// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl

/// The state that connections to one upstream share: its addresses, and the TLS sessions that they resume.
///
/// There is one for each upstream and worker, because libcurl's session key ignores the ``TrustStore`` and
/// the ``OwnCertificate``: a session that was verified under one set of authorities, or begun with one certificate of ours, must
/// not be resumed under another. libcurl alone
/// decides when it forgets addresses; to have a name resolved again, use a new object. Confined to its loop's
/// thread, hence no locks.
final class CurlShare {
    private let handle: UnsafeMutableRawPointer

    /// - Throws: ``CurlError`` if memory is short.
    init() throws(CurlError) {
        guard let handle = curl_share_init() else { throw CurlError(CURLE_OUT_OF_MEMORY) }
        self.handle = handle
        for kind in [CURL_LOCK_DATA_DNS, CURL_LOCK_DATA_SSL_SESSION] {
            guard bearerd_share_setopt_long(handle, CURLSHOPT_SHARE, Int(kind.rawValue)) == CURLSHE_OK else {
                throw CurlError(CURLE_NOT_BUILT_IN)
            }
        }
    }

    /// Every handle that uses the share keeps it alive, so none is left here.
    deinit { curl_share_cleanup(handle) }

    /// Lets `easy` use the share; the caller keeps this object for as long as the handle.
    func join(_ easy: borrowing CurlEasy) throws(CurlError) {
        try easy.set(CURLOPT_DNS_CACHE_TIMEOUT, to: -1)
        try bearerd_easy_setopt_share(easy.handle, handle).check()
    }
}
