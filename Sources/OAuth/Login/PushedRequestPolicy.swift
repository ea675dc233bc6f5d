// SPDX-License-Identifier: Apache-2.0

/// When authorization requests are pushed to the server (RFC 9126).
public enum PushedRequestPolicy: Sendable {
    /// Never: the browser carries them.
    case never
    /// If the server's metadata require it (RFC 9126 §5).
    case whereRequired
    /// Always.
    case always
}
