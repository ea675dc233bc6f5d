// SPDX-License-Identifier: Apache-2.0

/// When tokens are bound to a key of ours (DPoP, RFC 9449).
public enum DPoPPolicy: Sendable {
    /// Never: bearer tokens alone.
    case never
    /// If the server's metadata offer it (`dpop_signing_alg_values_supported`, RFC 9449 §5.1).
    case whereOffered
    /// Always.
    case always
}
