// SPDX-License-Identifier: Apache-2.0

/// One thread's view of a ``TokenSlot``: takes its lock only when something was published.
package struct TokenReader {
    package let slot: TokenSlot
    private var version = -1
    private var snapshot: AccessTokenSnapshot?

    package init(_ slot: TokenSlot) {
        self.slot = slot
    }

    /// The token to send, which the caller must still check with ``AccessTokenSnapshot/isUsable(at:)``.
    ///
    /// - Returns: nil if the session must be asked with ``AuthSession/freshToken(waitingAtMost:)``.
    package mutating func current() -> AccessTokenSnapshot? {
        let published = slot.version
        if published != version {
            version = published  // read before the token: a race costs one more look, never a stale token
            snapshot = slot.current
        }
        return snapshot
    }
}
