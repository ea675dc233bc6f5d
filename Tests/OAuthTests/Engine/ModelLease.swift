// SPDX-License-Identifier: Apache-2.0

@testable import OAuth

/// A lease of the model store, as its driver knows it.
final class ModelLease {
    let ticket: Ticket
    /// Another one for each lease.
    let owner: String
    /// The lease is ours at least until then; nil where the kernel keeps the lock.
    var end: Instant?
    /// The generation whose refresh token may have been sent, until the outcome is stored.
    var spending: Int?
    var mayBeSpent = false
    /// The mark that was there when the lease was given.
    var markFound: ModelMark?
    var isOver = false

    init(_ ticket: Ticket, of process: ModelProcess, until end: Instant?) {
        self.ticket = ticket
        owner = "\(process.name)/\(ticket)"
        self.end = end
    }

    func isHeld(at now: Instant) -> Bool { !isOver && end.map { now < $0 } ?? true }
}

/// The note that the refresh token of a generation is being sent.
struct ModelMark: Equatable {
    let generation: Int
    /// Nil for one that nobody is waited for.
    let owner: String?
}

/// How long a process has seen another one's mark.
struct ModelMarkWatch {
    let mark: ModelMark
    let begin: Instant
    var last: Instant
}
