// SPDX-License-Identifier: Apache-2.0

import Crypto

/// What one token request came to.
struct TokenOutcome: Sendable {
    var result: Result<TokenGrant, TokenFailure>
    /// A refresh token to keep, whatever the result.
    var refreshToken: Secret?
    /// When the request was sent: a lifetime counts from then.
    var sentAt: Instant
    /// The civil clock at that moment.
    var wall: WallTime
}
