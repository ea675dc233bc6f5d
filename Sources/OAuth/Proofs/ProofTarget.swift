// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// Where a request goes, as its proof names it (RFC 9449 §4.2): the server, and the path as it is sent.
package struct ProofTarget: Sendable {
    /// Scheme and authority: whose nonces count.
    package let origin: String
    /// `htu`: without query and fragment.
    package let uri: String

    /// The target of a request whose head is ready to be sent.
    ///
    /// - Parameter scheme: that of the connection; a Unix socket's is plain HTTP.
    package init(_ request: HTTPRequest, over scheme: HTTPURL.Scheme) {
        let name = scheme == .https ? HTTPURL.Scheme.https.rawValue : HTTPURL.Scheme.http.rawValue
        origin = "\(name)://\(request.fields[.host] ?? "")"
        var path: [UInt8] = []
        path.reserveCapacity(request.targetBytes.count)
        for byte in request.pathBytes {
            // A URI has none of these, whatever stands on the wire (RFC 3986 §2).
            if byte < 0x80 { path.append(byte) } else { path += "%\(Self.digits(of: byte))".utf8 }
        }
        // `*` is about the server as a whole (RFC 9112 §3.2.4).
        uri = path.first == UInt8(ascii: "*") ? origin : origin + String(decoding: path, as: UTF8.self)
    }

    /// The target of a request to `url`.
    package init(_ url: HTTPURL) {
        origin = url.origin
        uri = url.origin + (url.path.isEmpty ? "/" : url.path)
    }

    private static func digits(of byte: UInt8) -> String { String(byte, radix: 16, uppercase: true) }
}
