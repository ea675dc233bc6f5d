// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// What an ``IdentityEngine`` wants done, in this order.
///
/// Each action with a ticket is answered by the event that has the same ticket.
enum EngineAction: Sendable {
    // MARK: The store

    /// Wait for the lease for a few seconds. One that comes after the engine has stopped waiting is to be told all the
    /// same; the engine releases it.
    case lock(Ticket)
    /// Give the lease with this ticket back.
    case release(Ticket)
    /// Read the record, with or without a lease.
    case read(Ticket)
    /// Under the lease, mark these refresh tokens as spent by us. The mark stands until ``disclaim``, and shows that we live for as long as we do, whatever becomes of the lease.
    case spend(Ticket, [Secret])
    /// Take our mark away: nothing that is not stored can come of it any more.
    case disclaim
    /// Under the lease, write the session in place of what was read, compared by generation.
    case save(Ticket, StoredSession, over: StoredSession?, keepingPrevious: Bool)

    // MARK: The provider

    /// Make a token request and tell its answer; after `limit`, tell that there is none and keep the connection.
    case ask(Ticket, TokenTarget, Grant, within: Duration?)
    /// Stop waiting for an answer, and close its connection.
    case hangUp(Ticket)
    /// Ask the provider something harmless, without a credential: its metadata or keys.
    case probe(Ticket)
    /// Judge the id token of an answer.
    case judge(Ticket, TokenRequestResult, previous: Secret?)
    /// Have the provider forget a token; nobody waits for that.
    case revoke(Secret, TokenHint)

    // MARK: Those who wait

    /// The token that requests may use without asking; nil if they must ask.
    case publish(TokenTarget, AccessTokenSnapshot?)
    /// Use this token, or send the refused request again with it.
    case give(WaiterID, AccessTokenSnapshot)
    /// There is no token, and why.
    case refuse(WaiterID, TokenError)
    /// The resource server's answer goes through.
    case pass(WaiterID)
    /// A command asks the provider for something.
    case perform(Ticket, Command)
    /// A command is over.
    case finish(CommandID, CommandResult)

    // MARK: The driver

    /// For log, metrics and hooks.
    case report(EngineReport)
    /// Send ``EngineEvent/timePassed`` at this moment instead of the one before; nil for never.
    case ring(at: Instant?)
    /// The engine has stopped; `isSessionLost` says that what was never written is lost with it.
    case stop(isSessionLost: Bool)
}
