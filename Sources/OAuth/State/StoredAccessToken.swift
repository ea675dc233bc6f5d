// SPDX-License-Identifier: Apache-2.0

package import Crypto

/// An access token as it is stored.
package struct StoredAccessToken: Sendable {
    package var token: Secret
    /// The session's generation when this token came: tells a newer token from an older one across processes.
    package var generation: Int
    package var expiresAt: WallTime
    /// How long it was good for when it came.
    package var lifetime: Duration
    /// What was asked for when it came; a token for something else is not used.
    package var request: String

    package init(token: Secret, generation: Int, expiresAt: WallTime, lifetime: Duration, request: String) {
        self.token = token
        self.generation = generation
        self.expiresAt = expiresAt
        self.lifetime = lifetime
        self.request = request
    }
}
