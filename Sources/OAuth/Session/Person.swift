// SPDX-License-Identifier: Apache-2.0

/// The person whose session it is, as far as anybody has said it.
public struct Person: Equatable, Sendable {
    /// The person's identifier with the authorization server: the ID token's `sub`, GTMOAuth2's `userID`.
    public var id: String?
    /// The person's address.
    public var email: String?
    /// True if the authorization server has verified that address.
    public var isEmailVerified: Bool

    /// A person of whom this much is known.
    public init(id: String? = nil, email: String? = nil, isEmailVerified: Bool = false) {
        self.id = id
        self.email = email
        self.isEmailVerified = isEmailVerified
    }
}
