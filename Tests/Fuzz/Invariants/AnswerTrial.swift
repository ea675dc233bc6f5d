// SPDX-License-Identifier: Apache-2.0

@testable import OAuth

/// One token request of an engine whose store never fails; for checks of what any answer leads to.
struct AnswerTrial {
    /// The session that is stored in the end.
    private(set) var session: StoredSession
    /// The token that requests may use.
    private(set) var token: AccessTokenSnapshot?
    /// The identity's state.
    private(set) var state: SessionState
    /// True if something happens later without an event.
    private(set) var isToBeWoken: Bool

    private var engine: IdentityEngine
    private let moment: Moment
    private var hasAsked = false

    /// - Returns: nil if the engine asks for no token.
    init?(
        _ answer: TokenRequestResult, for session: StoredSession, of client: ClientConfiguration,
        at now: Instant, _ wall: WallTime
    ) {
        self.session = session
        state = .empty
        isToBeWoken = false
        moment = Moment(now: now, wall: wall, jitter: 0.5)
        engine = IdentityEngine(client, at: moment)
        run(.storeChanged(isWritable: false), answer)
        run(.started, answer)
        guard hasAsked else { return nil }
        state = engine.state(of: 0)
    }

    private mutating func run(_ event: EngineEvent, _ answer: TokenRequestResult) {
        var events = [event]
        while !events.isEmpty {
            for action in engine.handle(events.removeFirst(), at: moment) {
                switch action {
                case .lock(let ticket, _): events.append(.leased(ticket))
                case .read(let ticket):
                    events.append(.recordRead(ticket, .success(StoreRecord(session: session))))
                case .spend(let ticket, _): events.append(.spent(ticket, .success(false)))
                case .save(let ticket, let new, _, _):
                    session = new
                    events.append(.saved(ticket))
                case .ask(let ticket, _, _, _, _):
                    // Whatever follows the first answer waits for ever.
                    if !hasAsked {
                        events += [
                            .requestBegan(ticket), .answered(ticket, TokenRequestReport(outcome: answer)),
                        ]
                    }
                    hasAsked = true
                case .judge(let ticket, _, let outcome, _): events.append(.judged(ticket, outcome))
                case .publish(_, let snapshot): token = snapshot
                case .ring(let moment): isToBeWoken = moment != nil
                case .release, .claim, .lookForClaim, .hangUp, .probe, .revoke, .perform, .followClients,
                    .wake, .finish, .report, .quiet:
                    break
                }
            }
        }
        if case .asking = engine.phase { isToBeWoken = true }
    }
}
