// SPDX-License-Identifier: Apache-2.0

/// One thread's view of a ``TokenSlot``, which takes the slot's lock only after a publication.
package struct TokenReader {
    package let slot: TokenSlot
    private var version = -1
    private var snapshot: AccessTokenSnapshot?

    package init(_ slot: TokenSlot) {
        self.slot = slot
    }

    /// The published token, to be checked with ``AccessTokenSnapshot/isUsable(at:)``.
    ///
    /// - Returns: nil if ``AuthSession/freshToken(waitingAtMost:)`` must be asked.
    package mutating func current() -> AccessTokenSnapshot? {
        let published = slot.version
        if published != version {
            version = published  // read before the token: a race costs one more look, never a stale token
            snapshot = slot.current
        }
        return snapshot
    }
}
