// SPDX-License-Identifier: Apache-2.0

/// What becomes of client id and secret before they are joined for HTTP Basic.
///
/// RFC 6749 §2.3.1 asks for form encoding, most servers don't decode it.
public enum BasicEncoding: String, CaseIterable, Sendable {
    /// Form-encoded; where that differs from raw and is refused, raw once; what worked is remembered.
    case automatic = "auto"
    /// Form-encoded, a space as `%20`.
    case form
    /// Client id and secret as they are (RFC 7617).
    case raw
}
