// SPDX-License-Identifier: Apache-2.0

/// What happens to an ``IdentityEngine``.
enum EngineEvent: Sendable {
    // MARK: Requests

    /// A request wants a token that has not expired.
    case tokenNeeded(TokenTarget, by: WaiterID, until: Instant)
    /// A person or a command wants a new token, whatever the present one's expiry.
    case refreshRequested(TokenTarget, by: WaiterID, until: Instant)
    /// The present access token must never be used again.
    case tokenInvalidated(TokenTarget, by: WaiterID, until: Instant)
    /// A resource server refused a token; the request waits to hear whether it is sent again.
    case tokenRejected(TokenTarget, TokenRejection, by: WaiterID, until: Instant)
    /// A resource server took a token.
    case tokenAccepted(TokenTarget, generation: Int, route: String, isReplayed: Bool)
    /// Whoever waited does not wait any more.
    case waiterLeft(WaiterID)
    /// A secret, a key or a CA file has changed.
    case credentialsChanged
    /// The moment of the last ``EngineAction/ring(at:)`` has come.
    case timePassed

    // MARK: People

    /// Somebody wants the session changed.
    case commanded(CommandID, Command)
    /// What the provider made of the command that ``EngineAction/perform(_:_:)`` named.
    case performed(Ticket, Result<CommandAnswer, TokenFailure>)
    /// The process ends: nothing begins any more, and what must be written is tried until this moment.
    case stopping(until: Instant)

    // MARK: The store

    /// Another process may have stored something.
    case storeChanged
    case leased(Ticket)
    case leaseRefused(Ticket, StoreError)
    /// The lease with this ticket went to somebody else, or to nobody.
    case leaseLost(Ticket)
    case recordRead(Ticket, Result<StoreRecord, StoreError>)
    case spent(Ticket, Result<Void, StoreError>)
    case saved(Ticket, Result<Void, StoreError>)

    // MARK: The provider

    /// The answer to a token request, whenever it comes. `isJudged` says that its id token, if it has one, has been
    /// judged already, because that needed nothing of the provider.
    case answered(Ticket, TokenRequestResult, isJudged: Bool)
    /// The time for the answer is over; a connection that lives is kept, and its answer told.
    case unanswered(Ticket, TokenFailure, isConnected: Bool)
    /// The server takes client credentials in this encoding; nil if that is open again.
    case encodingLearned(BasicEncoding?)
    /// A connection that was kept has ended without an answer.
    case connectionEnded(Ticket)
    /// Whether the provider has answered something harmless.
    case probed(Ticket, isAnswered: Bool)
    /// The same outcome, or a failure if its id token is not believed.
    case judged(Ticket, TokenRequestResult)
}
