// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl

/// Initialises libcurl once for the process and tells its version.
package enum HTTPClientLibrary {
    /// The result of `curl_global_init`; Swift initialises a static property exactly once.
    private static let status = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Initialises libcurl and its TLS library (`curl_global_init`); call it before starting any thread.
    ///
    /// - Throws: ``CurlError`` if memory is short.
    package static func initialize() throws(CurlError) {
        try status.check()
    }

    /// The versions of libcurl and its TLS library, such as `libcurl/7.88.1 OpenSSL/3.0.15`; for `--version`.
    package static var version: String {
        guard let info = curl_version_info(newest)?.pointee, let version = info.version else {
            return "libcurl"
        }
        let library = "libcurl/" + String(cString: version)
        guard let security = info.ssl_version else { return library }
        return library + " " + String(cString: security)
    }

    /// The `CURLVERSION_NOW` of the headers, a macro that Swift cannot read; `cainfo` exists since the
    /// seventh.
    private static let newest = CURLVERSION_SEVENTH

    /// The path of the bundle of certificate authorities that libcurl was built to use.
    static var systemBundle: String? {
        guard let path = curl_version_info(newest)?.pointee.cainfo else { return nil }
        return String(cString: path)
    }
}
