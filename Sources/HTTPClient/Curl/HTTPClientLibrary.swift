// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl

/// libcurl as a whole: set up once for the process, and what it says of itself.
package enum HTTPClientLibrary {
    /// Runs once however often it is asked for: Swift initialises a static property exactly once.
    private static let status = curl_global_init(Int(CURL_GLOBAL_DEFAULT))

    /// Sets libcurl and its TLS library up (`curl_global_init`).
    ///
    /// Call it before any other thread is started.
    ///
    /// - Throws: ``CurlError`` when memory is short.
    package static func initialize() throws(CurlError) {
        try status.check()
    }

    /// libcurl's version and that of its TLS library, such as `libcurl/7.88.1 OpenSSL/3.0.15`; for `--version`.
    package static var version: String {
        guard let info = curl_version_info(newest)?.pointee, let version = info.version else {
            return "libcurl"
        }
        let library = "libcurl/" + String(cString: version)
        guard let security = info.ssl_version else { return library }
        return library + " " + String(cString: security)
    }

    /// `CURLVERSION_NOW` of the headers, as a macro out of Swift's reach; `cainfo` came with the seventh.
    private static let newest = CURLVERSION_SEVENTH

    /// The bundle of certificate authorities that libcurl was built to use.
    static var systemBundle: String? {
        guard let path = curl_version_info(newest)?.pointee.cainfo else { return nil }
        return String(cString: path)
    }
}
