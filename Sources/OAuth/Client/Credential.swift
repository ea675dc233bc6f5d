// SPDX-License-Identifier: Apache-2.0

/// Something that a client proves itself, or its grant, with; kept where it may change while we run.
package enum Credential: String, CaseIterable, Sendable {
    /// `client_secret` (RFC 6749 §2.3.1).
    case clientSecret
}
