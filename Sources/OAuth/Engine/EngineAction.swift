// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// An action that an ``IdentityEngine`` wants done; a list of them is done in its order.
///
/// Whatever takes time is answered by the event with its ticket; `release` and `hangUp` name the ticket of what they end.
enum EngineAction: Sendable {
    // MARK: The store

    /// Wait for the lease for a few seconds, with a claim on it if `isClaiming`. One that comes after the engine has stopped
    /// waiting is to be told all the same; the engine releases it.
    case lock(Ticket, isClaiming: Bool)
    /// Tell whoever has the lease that it is wanted, while we wait for it: see ``SessionStore/claim(_:)``.
    case claim
    /// Give the lease with this ticket back; the mark of a refresh token whose outcome nobody knows stays if `leavingMark`.
    case release(Ticket, leavingMark: Bool)
    /// Read the record, with the lease in hand or without it.
    case read(Ticket)
    /// Under the lease, mark the refresh token of this session as spent.
    case spend(Ticket, StoredSession)
    /// Under the lease, write the session in place of what was read, compared by generation.
    case save(Ticket, StoredSession, over: StoredSession?, keepingPrevious: Bool)
    /// Find out if somebody claims the lease, in another process or for another identity of the same name in this one.
    case lookForClaim(Ticket)

    // MARK: The provider

    /// Make a token request and tell its result, whenever it comes if `waitsLong`, else within the usual limit.
    case ask(Ticket, TargetID, Grant, TokenAdditions, waitsLong: Bool)
    /// Stop waiting for an answer, and close its connection.
    case hangUp(Ticket)
    /// Ask the authorization server something harmless, without a credential: its metadata or keys.
    case probe(Ticket, TargetID)
    /// Judge the ID token of an answer to a refresh of this session.
    case judge(Ticket, TargetID, TokenRequestResult, of: StoredSession)
    /// Have the authorization server forget a token of this client; nobody waits for that.
    case revoke(Secret, TokenHint, of: Asking.Client)
    /// A command asks the authorization server for something.
    case perform(Ticket, EngineCommand, for: StoredSession)
    /// Requests are made by other clients now: see ``TargetState/client``.
    case followClients

    // MARK: Those who wait

    /// The token that requests may use without asking; nil if they must ask.
    case publish(TargetID, AccessTokenSnapshot?)
    /// Tell somebody who waits.
    case wake(WaiterID, Answer)
    /// A command is over.
    case finish(CommandID, CommandResult)

    // MARK: The driver

    /// For log, metrics and hooks.
    case report(SessionEvent)
    /// Send ``EngineEvent/timePassed`` at this moment instead of the one before; nil for never.
    case ring(at: Instant?)
    /// Nothing is under way any more, and nothing begins.
    case quiet
    /// The answer to a waiter.
    enum Answer: Sendable {
        /// Use this token, or send the refused request again with it.
        case token(AccessTokenSnapshot)
        /// There is no token, and why.
        case failure(TokenError)
        /// The resource server's answer goes through.
        case letThrough
    }
}
