// SPDX-License-Identifier: Apache-2.0

/// A protocol that the two sides of TLS agree on in their handshake (RFC 7301).
package enum ApplicationProtocol: Sendable {
    /// `http/1.1`.
    case http1
    /// `h2`.
    case http2
    /// `h2`, over TLS with a cipher that HTTP/2 prohibits (RFC 9113 §9.2.2).
    case weakHTTP2
}
