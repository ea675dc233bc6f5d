// SPDX-License-Identifier: Apache-2.0

/// The way in which a message's content ends (RFC 9112 §6.3).
package enum BodyFraming: Equatable, Sendable {
    /// There is no content.
    case none
    /// The content has the number of bytes in `Content-Length`, which may be 0.
    case length(UInt64)
    /// Chunked transfer coding (RFC 9112 §7.1).
    case chunked
    /// The content of a response ends with its connection.
    case untilClose
}
