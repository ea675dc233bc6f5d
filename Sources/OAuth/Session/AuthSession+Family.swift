// SPDX-License-Identifier: Apache-2.0

extension AuthSession: FamilyMember {
    /// Has the identity's state be that of its other sessions: this one is to end, and serves only who waits for it.
    package nonisolated func leaveFamily() { family.leave(self) }

    /// Has it ask for tokens only where somebody waits for one, from here on.
    package func serveWaitersOnly() {
        state.leave()
        advance()
    }
}
