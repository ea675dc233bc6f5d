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
    /// The person that the session is of (`sub` of its id token), where it is anybody's.
    public let subject: String?
    /// The key that each request with the token has to prove (RFC 9449); nil for a bearer token.
    package let binding: TokenBinding?

    /// A bearer token of a generation, good until `expiry`.
    public convenience init(generation: Int, token: Secret, expiry: Instant, subject: String? = nil) {
        self.init(generation: generation, token: token, expiry: expiry, subject: subject, binding: nil)
    }

    /// A token that may be bound to a key.
    package init(
        generation: Int, token: Secret, expiry: Instant, subject: String?, binding: TokenBinding?
    ) {
        self.generation = generation
        self.token = token
        self.expiry = expiry
        self.subject = subject
        self.binding = binding
    }

    /// Whether whoever shows the token has to prove to have its key (RFC 9449), so that it is of no use alone.
    public var isBound: Bool { binding != nil }

    /// Whether the token may still be sent.
    public func isUsable(at now: Instant) -> Bool { now < expiry }
}
