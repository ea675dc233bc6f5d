// SPDX-License-Identifier: Apache-2.0

/// A phase of an ``IdentityEngine``, with all that only this phase knows.
///
/// The table in docs/architecture.md, "The life of a token", has each phase with its events and actions.
enum Phase: Sendable {
    /// Nothing is under way; timers and events decide what comes next.
    case idle
    /// An attempt waits until then: others may hold a newer session that is not stored yet, or a person comes first.
    case settling(until: Instant)
    /// Waits for the store's lease; `refusals` counts the times it was not to be had.
    case locking(Ticket, refusals: Int)
    /// Holds the lease, and reads what it protects.
    case reading(Ticket)
    /// Has the store note that the refresh token is about to be sent.
    case spending(Ticket, TargetID, Grant)
    /// Waits for the authorization server's answer, as long as one can come.
    case asking(Asking)
    /// Waits for the ID token of an answer to be judged.
    case judging(Ticket, Asking, TokenRequestResult)
    /// Waits for the store to have written this session; the answer that it came with is judged next, or has ended the
    /// attempt of its target.
    case saving(Ticket, StoredSession, Conclusion?)
    /// A rotated refresh token could not be written. The lease is kept, because the store holds the spent one.
    case holding
    /// A command asks the authorization server for something, with the lease in hand.
    case performing(Ticket, EngineCommand)
    /// The end: nothing follows, whatever happens.
    case stopped

    /// The step that follows a save.
    enum Conclusion: Sendable {
        /// The answer in it is to be judged, now that its refresh token is stored.
        case judging(Asking, TokenRequestResult)
        /// The attempt of this target has ended; nil means with a token.
        case ending(TargetID, LastFailure?)
        /// The first command has changed the session so.
        case command
    }

    var isStopped: Bool { if case .stopped = self { true } else { false } }
}

/// Tells the answer to one action from late answers to earlier ones.
typealias Ticket = Int
/// Names a target of the identity; the driver's choice, never used again.
typealias TargetID = Int
/// Names somebody who waits for a token; the driver's choice.
typealias WaiterID = Int
/// Names a command; the driver's choice.
typealias CommandID = Int
