// SPDX-License-Identifier: Apache-2.0

internal import CBearerdLibcurl

/// A failed libcurl call, with libcurl's own code.
package struct CurlError: Error, Equatable, Sendable {
    /// A `CURLcode`.
    package let code: Int32

    init(_ code: CURLcode) {
        self.code = Int32(code.rawValue)
    }

    /// libcurl's text for the code (`curl_easy_strerror`), which holds nothing of the request.
    package var reason: String {
        guard let text = curl_easy_strerror(CURLcode(UInt32(code))) else { return "" }
        return String(cString: text)
    }
}

extension CURLcode {
    /// - Throws: ``CurlError`` unless the code is `CURLE_OK`.
    func check() throws(CurlError) {
        guard self == CURLE_OK else { throw CurlError(self) }
    }
}
