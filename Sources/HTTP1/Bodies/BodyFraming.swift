// SPDX-License-Identifier: Apache-2.0

/// How the end of a message's content is found (RFC 9112 §6.3).
package enum BodyFraming: Equatable, Sendable {
    /// There is no content.
    case none
    /// As many bytes as `Content-Length` says; may be 0.
    case length(UInt64)
    /// Chunked transfer coding (RFC 9112 §7.1).
    case chunked
    /// A response that ends with its connection.
    case untilClose
}
