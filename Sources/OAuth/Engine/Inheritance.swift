// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A session that one identity could not write, for another one of the same name.
struct Inheritance: Sendable {
    let session: StoredSession
    /// True if it is a login or a logout, which counts for more than what is stored.
    let isOutrankingStored: Bool
    /// The refresh token that nobody else can have sent, if there is one.
    let ownToken: Secret?
    /// The lease, if it was kept.
    var lease: HeldLease?
}
