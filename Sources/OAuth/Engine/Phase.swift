// SPDX-License-Identifier: Apache-2.0

/// What an ``IdentityEngine`` is doing, with all that only this phase knows.
///
/// The table in docs/architecture.md, "The house to come", has each phase with its events and actions.
enum Phase: Sendable {
    /// Nothing is under way; timers and events decide what comes next.
    case idle
    /// Reads the store without a lease, to adopt what is newer.
    case looking(Ticket)
    /// Somebody else may hold a newer session that is not stored yet. Nothing spends a refresh token before `until`.
    case settling(until: Instant)
    /// Waits for the store's lease; `refusals` counts the times it was not to be had.
    case locking(Ticket, refusals: Int)
    /// Holds the lease, and reads what it protects.
    case reading(Ticket)
    /// Has the store note that the refresh token is about to be sent; without a request, that nobody is to send it before
    /// everybody had time to write what the store has lost.
    case spending(Ticket, SentRequest?)
    /// Waits for the provider's answer.
    case asking(SentRequest)
    /// A refresh token may have been spent, and nobody knows. It is not sent again on a guess. Holds no lease: the mark
    /// in the store keeps others from sending it, and a login of another process need not wait.
    case silent(Silence)
    /// Waits for the id token of an answer to be judged.
    case judging(Ticket, SentRequest, TokenRequestResult)
    /// Waits for the store to have written this session. If that was done ahead of judging an answer, because its refresh
    /// token may be the only one that works, the answer is judged next.
    case saving(Ticket, StoredSession, judging: JudgedLater?)
    /// A rotated refresh token could not be written. The lease is kept, because the store holds the spent one.
    case holding
    /// A command asks the provider for something, with the lease in hand.
    case performing(Ticket, Command)
    /// The end: nothing follows, whatever happens.
    case stopped
}

/// An answer that waits to be judged until its refresh token is stored.
struct JudgedLater: Sendable {
    let request: SentRequest
    let outcome: TokenRequestResult
}

/// Tells the answer to one action from late answers to earlier ones.
typealias Ticket = Int
/// Names somebody who waits for a token; the driver's choice.
typealias WaiterID = Int
/// Names a command; the driver's choice.
typealias CommandID = Int
