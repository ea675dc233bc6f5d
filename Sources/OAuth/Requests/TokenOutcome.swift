// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// What one token request came to.
struct TokenOutcome: Sendable {
    var result: Result<TokenGrant, TokenFailure>
    /// A refresh token to keep, whatever the result.
    var refreshToken: Secret?
    /// What a login keeps of an answer without an access token that can be used.
    var remainder: TokenGrant?
    /// The key that the request proved to have; nil without one.
    var proofKey: ProofKey?
    /// When the request was sent: a lifetime counts from then.
    var sentAt: Instant
    /// The civil clock at that moment.
    var wall: WallTime
}
