// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography
import BearerdJSON

/// An access token as it is stored.
package struct StoredAccessToken: Sendable {
    /// The access token.
    package var token: Secret
    /// The session's generation when this token came: tells a newer token from an older one across processes.
    package var generation: Int
    /// It is of no use from then on.
    package var expiresAt: WallTime
    /// How long it was good for when it came.
    package var lifetime: Duration
    /// The request that brought it; a token for something else is not used.
    package var request: String
    /// `token_type`, as the server spelled it; nil where it named none.
    package var tokenType: String?
    /// True if it is bound to the session's key (RFC 9449), and no bearer token.
    package var isBound = false
    /// Members of the record that this version does not know.
    var unknownMembers = JSONObject()

    /// A token as it is stored.
    package init(
        token: Secret, generation: Int, expiresAt: WallTime, lifetime: Duration, request: String,
        tokenType: String? = nil
    ) {
        self.tokenType = tokenType
        self.token = token
        self.generation = generation
        self.expiresAt = expiresAt
        self.lifetime = lifetime
        self.request = request
    }
}
