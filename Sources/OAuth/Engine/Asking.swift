// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A token request of one attempt, until it is known what became of it or nobody cares.
///
/// One with a refresh token that the server may replace has a ``rule``, and may be sent twice.
struct Asking: Sendable {
    let target: TargetID
    let grant: Grant
    /// The client that its tokens are issued to, in whose name they are revoked.
    let client: Client
    /// The beginning of the session that asks; an answer to another session's request changes nothing.
    let origin: String
    /// The generation of the stored session that the refresh token belongs to.
    var generation: Int
    /// Why nothing that comes of it can be stored; nil if the lease is in hand.
    var trouble: StoreError?
    /// When the refresh token may be sent once more; nil if the server does not replace it.
    var rule: UnansweredRefresh?
    /// The requests that are on their way.
    var requests: [Ticket] = []
    /// The probe that is on its way.
    var probe: Ticket?
    /// The failure that is told if nothing better comes, and whether the authorization server said it.
    private(set) var failure: (outcome: TokenRequestResult, isAnswer: Bool)?
    /// True once people have heard that the authorization server hangs.
    var isTold = false
    /// True while it makes room for somebody who claims the lease.
    var isClaimed = false
    /// When the next look for a claim is due, and its ticket while it is under way.
    var claimCheck: (due: Instant, ticket: Ticket?)
    /// The last look before the refresh token is sent once more; nil if none was begun for that.
    var finalClaimCheck: ClaimCheck?
    /// The write that is done while the answer is awaited.
    var meanwhile: Meanwhile?
    /// True if the store has no mark of what was sent, because that could not be written.
    var lacksMark = false
    /// Events that came while something was written, or while nobody held the lease.
    var deferred: [EngineEvent] = []

    enum ClaimCheck: Sendable {
        case underWay
        /// Nobody who is alive waits with an answer to an earlier request.
        case foundNobody
    }

    enum Meanwhile: Sendable {
        case saving(Ticket, StoredSession)
        case spending(Ticket)
    }

    /// A client of the server, with the secret that its registration or an import came with.
    struct Client: Sendable {
        let configuration: ClientConfiguration
        let secret: Secret?
    }

    init(
        for target: TargetID, with grant: Grant, by client: Client, of session: StoredSession,
        generation: Int, at now: Instant
    ) {
        self.target = target
        self.grant = grant
        self.client = client
        origin = session.origin
        self.generation = generation
        claimCheck = (now, nil)
    }

    /// The refresh token that it carries.
    var refreshToken: Secret? { if case .refresh(let token) = grant { token } else { nil } }

    /// Takes in a failure: what an authorization server says counts for more than that it said nothing, and a final word most.
    mutating func note(_ outcome: TokenRequestResult, isAnswer: Bool) {
        if let failure, failure.outcome.failure?.kind == .final || failure.isAnswer && !isAnswer { return }
        failure = (outcome, isAnswer)
    }

    /// The authorization server's final word, so that only another answer could bring a token.
    var refusal: TokenFailure? {
        failure?.outcome.failure.flatMap { $0.kind == .final ? $0 : nil }
    }
}

extension TokenRequestResult {
    /// Why there are no tokens.
    var failure: TokenFailure? { if case .failure(let failure) = result { failure } else { nil } }
}
