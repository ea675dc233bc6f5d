// SPDX-License-Identifier: Apache-2.0

/// Whether tokens are to be bound to a key of ours (RFC 9449).
public enum ProofPolicy: Sendable {
    /// Bearer tokens alone.
    case never
    /// Where the server's metadata offer it (`dpop_signing_alg_values_supported`, RFC 9449 §5.1).
    case whereOffered
    /// Always asked for.
    case always
}
