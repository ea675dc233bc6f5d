// SPDX-License-Identifier: Apache-2.0

public import Cryptography

/// One access token, as any thread may put it into requests.
public final class AccessTokenSnapshot: Sendable {
    /// Identifies this token in reports of what a resource server thought of it; a later token has a larger one.
    public let generation: Int
    /// What a resource server is shown.
    public let token: Secret
    /// The token is never sent at or after this moment.
    public let expiry: Instant

    /// A token of a generation, good until `expiry`.
    public init(generation: Int, token: Secret, expiry: Instant) {
        self.generation = generation
        self.token = token
        self.expiry = expiry
    }

    /// Whether the token may still be sent.
    public func isUsable(at now: Instant) -> Bool { now < expiry }
}
