// SPDX-License-Identifier: Apache-2.0

/// Whether authorization requests are pushed to the server before a browser refers to them (RFC 9126).
public enum PushedRequestPolicy: Sendable {
    /// The browser carries them.
    case never
    /// Where the server's metadata require it (RFC 9126 §5).
    case whereRequired
    /// Always.
    case always
}
