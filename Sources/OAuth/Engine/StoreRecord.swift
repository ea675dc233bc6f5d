// SPDX-License-Identifier: Apache-2.0

/// What a look at the store finds of one identity.
struct StoreRecord: Sendable {
    /// The stored session; nil if there is none.
    var session: StoredSession?
    /// The marks that the store holds, one for each owner.
    var marks: [SpendingMark] = []

    init(session: StoredSession?, marks: [SpendingMark] = []) {
        self.session = session
        self.marks = marks
    }
}
