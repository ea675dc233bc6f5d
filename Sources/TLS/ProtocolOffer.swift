// SPDX-License-Identifier: Apache-2.0

/// The protocols that one side of TLS speaks, the one that it prefers first (RFC 7301 §3.1).
package enum ProtocolOffer: Hashable, Sendable {
    /// `http/1.1` alone.
    case http1
    /// `h2` alone.
    case http2
    /// `h2`, else `http/1.1`.
    case either

    /// The names, each behind its length, as in the handshake.
    var list: StaticString {
        switch self {
        case .http1: "\u{8}http/1.1"
        case .http2: "\u{2}h2"
        case .either: "\u{2}h2\u{8}http/1.1"
        }
    }
}
