// SPDX-License-Identifier: Apache-2.0

/// An event in the life of an ``IdentityEngine``.
enum EngineEvent: Sendable {
    // MARK: Requests

    /// A request wants a token that has not expired; one that is due for renewal is waited for if `isRenewed`.
    case tokenNeeded(TargetID, by: WaiterID, until: Instant, isRenewed: Bool)
    /// A person or a command wants a new token, whatever the present one's expiry.
    case refreshRequested(TargetID, TokenAdditions, by: WaiterID, until: Instant)
    /// The present access token must never be used again.
    case tokenInvalidated(TargetID, by: WaiterID, until: Instant)
    /// Somebody waits for the end of the attempt that is under way.
    case attemptAwaited(TargetID, by: WaiterID, until: Instant)
    /// The next request is to have a newer token than the present one, if that can be had in time.
    case renewalNeeded(TargetID)
    /// A resource server refused a token; the request waits to hear whether it is sent again.
    case tokenRejected(TargetID, TokenRejection, by: WaiterID, until: Instant)
    /// A resource server took a token.
    case tokenAccepted(TargetID, generation: Int, route: String, isReplayed: Bool)
    /// A secret, a key or a CA file has changed.
    case credentialsChanged
    /// The moment of the last ``EngineAction/ring(at:)`` has come.
    case timePassed

    // MARK: Its life

    /// From here on tokens are kept fresh; before, one is asked for only where somebody waits for it.
    case started
    /// Tokens are asked for with this client too.
    case targetJoined(TargetID, ClientConfiguration)
    /// The target asks for tokens only where somebody waits for one.
    case targetLeaves(TargetID)
    /// The target is forgotten.
    case targetLeft(TargetID)
    /// Nothing begins any more; ``EngineAction/quiet`` follows what is under way.
    case stopping
    /// Nobody waits for the store's lock any longer.
    case hurried
    /// The end.
    case stopped
    /// A session that another identity of the same name could not write is this one's to write, with the lease if that was kept.
    case inherited(Inheritance)
    /// Another identity of the same name is asked to write what this one could not; nothing changes before its answer.
    case handingOver(Ticket)
    /// That one has answered: it has the session and the lease if `isTaken`.
    case handedOver(Ticket, isTaken: Bool)

    // MARK: People

    /// Somebody wants the session changed.
    case commanded(CommandID, EngineCommand)
    /// The authorization server's answer for the command that ``EngineAction/perform(_:_:for:)`` named.
    case performed(Ticket, Result<CommandResponse, TokenFailure>)

    // MARK: The store

    /// Another process may have stored something; if `isWritable`, what could not be written is worth another try.
    case storeChanged(isWritable: Bool)
    case leased(Ticket)
    case leaseRefused(Ticket, StoreError)
    case recordRead(Ticket, Result<StoreRecord, StoreError>)
    /// The mark that is about to be reported by ``spent(_:_:)`` was written down, or could not be.
    case marked(StoreError?)
    /// The mark is set; the value says whether somebody had left one for the same token.
    case spent(Ticket, Result<Bool, StoreError>)
    case saved(Ticket)
    /// Writing failed; `hasMoved` says that other processes look elsewhere, so that the lease keeps nobody out.
    case notSaved(Ticket, StoreError, hasMoved: Bool)
    /// A look for somebody who claims the lease; true if there is one, nil if nobody could be heard.
    case claimed(Ticket, Bool?)
    /// A person wants the lease for another identity of the same name in this process.
    case roomWanted

    // MARK: The provider

    /// A token request goes out, or out anew, once its connection stands: what had to be there first, metadata and credentials, is
    /// there.
    case requestBegan(Ticket)
    /// Its connection stands, and it is sent.
    case requestConnected(Ticket)
    /// The result of a token request, whenever it comes.
    case answered(Ticket, TokenRequestReport)
    /// The authorization server has answered something harmless, or has failed to.
    case probed(Ticket, TokenFailure?)
    /// The same result, or a failure if its ID token is not valid.
    case judged(Ticket, TokenRequestResult)
}

/// The result of a token request, with what the driver knows of it.
struct TokenRequestReport: Sendable {
    var outcome: TokenRequestResult
    /// False if the authorization server cannot have seen the request.
    var wasSent = true
    /// True if judging its ID token needs keys that are not at hand.
    var needsKeys = false
    /// The server takes client credentials in this encoding; nil if that is open.
    var encoding: BasicEncoding?

    /// True if the request was ready to be sent, and must not be any more.
    var wasSuperseded: Bool { !wasSent && outcome.failure?.reason == .superseded }

    /// True if the authorization server may have acted upon the request, and nobody knows: an answer that is too large may
    /// hold a refresh token in the part that nobody has read.
    var isLost: Bool {
        guard wasSent, let reason = outcome.failure?.reason else { return false }
        return reason == .timedOut || reason == .interrupted || reason == .responseTooLarge || isGateways
    }

    /// True if a gateway says, in the authorization server's place, that no answer came (RFC 9110 §15.6.3 and §15.6.5; some
    /// networks have statuses of their own).
    var isGateways: Bool {
        guard wasSent, case .status(let status)? = outcome.failure?.reason else { return false }
        return [502, 504, 520, 524].contains(status)
    }
}
