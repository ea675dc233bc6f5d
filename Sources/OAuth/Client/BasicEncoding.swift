// SPDX-License-Identifier: Apache-2.0

/// How client id and secret are encoded before they are joined for HTTP Basic.
///
/// RFC 6749 §2.3.1 requires form encoding, which most servers do not decode.
public enum BasicEncoding: String, CaseIterable, Sendable {
    /// Form-encoded; if that differs from raw and is refused, raw once. The one that works is remembered.
    case automatic = "auto"
    /// Form-encoded, a space as `%20`.
    case form
    /// Client id and secret as they are (RFC 7617).
    case raw
}
