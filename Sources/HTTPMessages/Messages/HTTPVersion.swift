// SPDX-License-Identifier: Apache-2.0

/// A protocol version that bearerd speaks (RFC 9112 §2.3).
package enum HTTPVersion: Sendable {
    /// `HTTP/1.0`: no `Host`, no transfer codings, closed after each message unless asked otherwise.
    case http10
    /// `HTTP/1.1`.
    case http11
}
