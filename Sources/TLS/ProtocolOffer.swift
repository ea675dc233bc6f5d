// SPDX-License-Identifier: Apache-2.0

package import BearerdEventLoop
internal import CBearerdOpenSSL

/// The protocols that one side of TLS speaks, the one that it prefers first (RFC 7301 §3.1).
package enum ProtocolOffer: Hashable, Sendable {
    /// `http/1.1` alone.
    case http1
    /// `h2` alone.
    case http2
    /// `h2`, else `http/1.1`.
    case either

    /// The one of them that a connection has chosen; nil for none.
    ///
    /// - Parameter connection: an `SSL *`.
    package static func chosen(on connection: OpaquePointer) -> ApplicationProtocol? {
        if bearerd_ssl_has_chosen(connection, "http/1.1") == 1 { return .http1 }
        guard bearerd_ssl_has_chosen(connection, "h2") == 1 else { return nil }
        return bearerd_ssl_suits_http2(connection) == 1 ? .http2 : .weakHTTP2
    }

    /// The names, each behind its length, as in the handshake.
    package var list: StaticString {
        switch self {
        case .http1: "\u{8}http/1.1"
        case .http2: "\u{2}h2"
        case .either: "\u{2}h2\u{8}http/1.1"
        }
    }
}
