// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The note in a store that somebody is about to send a refresh token, or has sent it and has not stored the answer.
///
/// It names the token by a digest and not by the session's generation, because a change that leaves the token alone (a
/// login that waits for its code) makes a newer generation and no newer token.
struct SpendingMark: Hashable, Sendable {
    /// The process that left it; a process that starts again is another one.
    let owner: String
    /// The refresh tokens that nobody else is to send: the one that its owner has sent, and one before it that the store
    /// still holds.
    let tokens: Set<String>
    /// Whether the owner is this process.
    let isOurs: Bool
    /// Whether the owner has shown that it lives, as far as the store can tell.
    ///
    /// A kernel's lock tells at once; a lease is over when its owner has given no sign of life for one term.
    let isOwnerAlive: Bool

    init(owner: String, tokens: Set<String>, isOurs: Bool, isOwnerAlive: Bool) {
        self.owner = owner
        self.tokens = tokens
        self.isOurs = isOurs
        self.isOwnerAlive = isOwnerAlive
    }

    /// What a mark calls `refreshToken`.
    static func name(of refreshToken: Secret) -> String {
        Base64URL.encode(SHA256.digest(refreshToken.plaintextBytes))
    }
}

extension Secret {
    /// Whether both are the same.
    func equals(_ other: Secret?) -> Bool { other.map { matches($0.plaintextBytes) } ?? false }
}
