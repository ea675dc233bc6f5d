// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// One access token, for requests of any thread.
package final class AccessTokenSnapshot: Sendable {
    /// Identifies this token in reports of rejection and acceptance; a later token has a larger number.
    package let generation: Int
    /// The token itself.
    package let token: Secret
    /// The token is never sent at or after this moment.
    package let expiry: Instant
    /// The person (`sub` of the ID token); nil if there is none.
    package let subject: String?
    /// The ID token of its session, which says who that is; nil if there is none.
    package let idToken: Secret?
    /// The key that the token is bound to (RFC 9449); nil for a bearer token.
    package let binding: DPoPBinding?

    /// A bearer token.
    package convenience init(generation: Int, token: Secret, expiry: Instant, subject: String? = nil) {
        self.init(generation: generation, token: token, expiry: expiry, subject: subject, binding: nil)
    }

    /// A token that may be bound to a key.
    package init(
        generation: Int, token: Secret, expiry: Instant, subject: String?, idToken: Secret? = nil,
        binding: DPoPBinding?
    ) {
        self.generation = generation
        self.token = token
        self.expiry = expiry
        self.subject = subject
        self.idToken = idToken
        self.binding = binding
    }

    /// True if each request with the token needs a DPoP proof (RFC 9449).
    package var isBound: Bool { binding != nil }

    /// Returns true before ``expiry``.
    package func isUsable(at now: Instant) -> Bool { now < expiry }
}
