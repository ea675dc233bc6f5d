// SPDX-License-Identifier: Apache-2.0

/// A protocol version that bearerd speaks (RFC 9112 §2.3).
package enum HTTPVersion: Sendable {
    /// `HTTP/1.0`: no `Host`, no transfer codings, closed after each message unless asked otherwise.
    case http10
    /// `HTTP/1.1`.
    case http11

    /// As `Via` says it (RFC 9110 §7.6.3).
    package var number: String {
        switch self {
        case .http10: "1.0"
        case .http11: "1.1"
        }
    }
}
