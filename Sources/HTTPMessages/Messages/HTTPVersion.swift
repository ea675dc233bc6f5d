// SPDX-License-Identifier: Apache-2.0

/// The version of HTTP that a message was received in (RFC 9110 §2.5).
package enum HTTPVersion: CaseIterable, Sendable {
    /// No `Host`, no transfer codings, closed after each message unless asked otherwise.
    case http10
    case http11
    /// Many exchanges on a connection, no connection-specific fields.
    case http2

    /// The version in `Via` (RFC 9110 §7.6.3).
    package var number: String {
        switch self {
        case .http10: "1.0"
        case .http11: "1.1"
        case .http2: "2"
        }
    }
}
