// SPDX-License-Identifier: Apache-2.0

/// The version of HTTP in which an upstream is spoken to (`upstream_protocol`).
package enum UpstreamProtocol: String, CaseIterable, Sendable {
    /// HTTP/1.1.
    case http1
    /// HTTP/2: over TLS by ALPN, in plain text with prior knowledge (RFC 9113 §3).
    case http2 = "h2"
    /// HTTP/2 where ALPN brings it, else HTTP/1.1.
    case auto
}
