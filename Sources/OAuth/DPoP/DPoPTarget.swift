// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The target of a request as its proof names it (RFC 9449 §4.2).
package struct DPoPTarget: Sendable {
    /// Scheme and authority, which select the nonce.
    package let origin: String
    /// `htu`: without query and fragment.
    package let uri: String

    /// The target of a request with a final head.
    ///
    /// - Parameter scheme: the connection's scheme; that of a Unix socket counts as `http`.
    package init(_ request: HTTPRequest, over scheme: HTTPURL.Scheme) {
        let name = scheme == .https ? HTTPURL.Scheme.https.rawValue : HTTPURL.Scheme.http.rawValue
        origin = "\(name)://\(request.fields[.host] ?? "")"
        let path = PercentEncoding.ascii(request.pathBytes.span).map { $0[...] } ?? request.pathBytes
        // `*` stands for the server as a whole (RFC 9112 §3.2.4).
        uri = path.first == UInt8(ascii: "*") ? origin : origin + String(decoding: path, as: UTF8.self)
    }

    /// The target of a request to `url`.
    package init(_ url: HTTPURL) {
        origin = url.origin
        uri = url.origin + (url.path.isEmpty ? "/" : url.path)
    }
}
