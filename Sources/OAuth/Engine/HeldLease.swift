// SPDX-License-Identifier: Apache-2.0

/// The store's lease on the identity, with what was read under it.
struct HeldLease: Sendable {
    let ticket: Ticket
    /// What is stored, and what a save replaces; nil if nothing is.
    var stored: StoredSession?
    /// The marks that others have left.
    var marks: [SpendingMark] = []
}
