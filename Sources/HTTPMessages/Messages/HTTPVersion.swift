// SPDX-License-Identifier: Apache-2.0

/// The version of HTTP that a message came in (RFC 9110 §2.5).
package enum HTTPVersion: CaseIterable, Sendable {
    /// `HTTP/1.0`: no `Host`, no transfer codings, closed after each message unless asked otherwise.
    case http10
    /// `HTTP/1.1`.
    case http11
    /// `HTTP/2`: many exchanges on a connection, no connection's own fields.
    case http2

    /// As `Via` says it (RFC 9110 §7.6.3).
    package var number: String {
        switch self {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        }
    }
}
