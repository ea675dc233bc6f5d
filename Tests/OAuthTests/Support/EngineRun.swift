// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

/// An engine of a person's session whose store does all that it is asked at once, unless the test says otherwise, and
/// whose provider answers nothing by itself.
final class EngineRun {
    private(set) var engine: IdentityEngine
    private(set) var now = ContinuousClock.now
    private(set) var wall = WallTime(secondsSinceEpoch: 1_700_000_000)
    private let client: ClientConfiguration

    /// What the store holds.
    var stored: StoredSession
    /// Whether somebody else has left a mark on it.
    var isMarked = false
    /// Whether the lease is given, and what is written is answered; else each waits for ``lock()`` and ``save()``.
    var locks = true
    var saves = true
    var refusesWrites = false
    var writeFailure = StoreError.unavailable("no space")
    /// Whether somebody else claims the lease, nil where nobody can be heard, and whether a look for that is answered.
    var isClaimed: Bool? = false
    var answersLooks = true
    /// Whether a request goes out at once; else it waits for metadata or a credential for ever.
    var begins = true
    /// Why nothing can be read or marked.
    var readFailure: StoreError?
    var markFailure: StoreError?
    private var locking: Ticket?
    private var saving: (ticket: Ticket, session: StoredSession)?

    init(_ grantType: GrantType = .authorizationCode) {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: grantType)
        client.issuer = "https://sso.example"
        self.client = client
        engine = IdentityEngine(client, at: Moment(now: now, wall: wall, jitter: 0))
        stored = StoredSession(identity: "default", generation: 1, binding: client.binding)
        if grantType.needsPerson { stored.refreshToken = Secret("one") }
        play(.storeChanged(isWritable: false))
    }

    /// Has one more target take part.
    func join(_ id: TargetID) {
        play(.targetJoined(id, client.aimed(at: TokenTarget(scope: ["scope\(id)"]))))
    }

    func pass(_ duration: Duration) {
        now += duration
        wall = wall + duration
    }

    /// Has the engine take an event in, and the store do what it wants.
    ///
    /// - Returns: all that it wanted.
    @discardableResult
    func play(_ event: EngineEvent) -> [EngineAction] {
        var (events, all) = ([event], [EngineAction]())
        while !events.isEmpty {
            let actions = engine.handle(
                events.removeFirst(), at: Moment(now: now, wall: wall, jitter: 0))
            all += actions
            for action in actions {
                if let event = answer(to: action) { events.append(event) }
            }
        }
        return all
    }

    private func answer(to action: EngineAction) -> EngineEvent? {
        switch action {
        case .lock(let ticket, _):
            if !locks { locking = ticket }
            return locks ? .leased(ticket) : nil
        case .read(let ticket):
            if let readFailure { return .recordRead(ticket, .failure(readFailure)) }
            var record = StoreRecord(session: stored)
            record.isLeftSpent = isMarked
            return .recordRead(ticket, .success(record))
        case .spend(let ticket, _):
            return .spent(ticket, markFailure.map { .failure($0) } ?? .success(isMarked))
        case .save(let ticket, let session, _, _):
            if refusesWrites { return .notSaved(ticket, writeFailure, hasMoved: false) }
            guard saves else {
                saving = (ticket, session)
                return nil
            }
            stored = session
            return .saved(ticket)
        case .lookForClaim(let ticket): return answersLooks ? .claimed(ticket, isClaimed) : nil
        case .ask(let ticket, _, _, _, _): return begins ? .requestBegan(ticket) : nil
        case .judge(let ticket, _, let outcome, _): return .judged(ticket, outcome)
        default: return nil
        }
    }

    /// The lease that was waited for is given.
    func lock() -> [EngineAction] {
        locks = true
        return locking.map { play(.leased($0)) } ?? []
    }

    /// The lease that was waited for is not given.
    func refuseLock(_ error: StoreError) {
        guard let locking else { return }
        self.locking = nil
        play(.leaseRefused(locking, error))
    }

    /// What was to be written is.
    @discardableResult
    func save() -> [EngineAction] {
        guard let saving else { return [] }
        stored = saving.session
        return play(.saved(saving.ticket))
    }

    /// An answer with a new refresh token.
    func answer(_ ticket: Ticket, refreshToken: String) -> EngineEvent {
        let grant = TokenResponse(
            accessToken: Secret("at \(refreshToken)"), lifetime: .seconds(300),
            refreshToken: Secret(refreshToken))
        var outcome = TokenRequestResult(result: .success(grant), sentAt: now, wall: wall)
        outcome.refreshToken = Secret(refreshToken)
        return .answered(ticket, TokenRequestReport(outcome: outcome))
    }
}

extension EngineRun {
    /// The end of a request that was not sent, or not anew, because it must not be any more.
    func withheld(_ ticket: Ticket) -> EngineEvent { failed(ticket, .superseded, wasSent: false) }

    func failed(_ ticket: Ticket, _ reason: TokenFailure.Reason, wasSent: Bool = true) -> EngineEvent {
        let outcome = TokenRequestResult(
            result: .failure(TokenFailure(.transient, reason, detail: "")), sentAt: now, wall: wall)
        return .answered(ticket, TokenRequestReport(outcome: outcome, wasSent: wasSent))
    }
}

extension [EngineAction] {
    /// The ticket of the first token request among them.
    var asked: Ticket? {
        compactMap { if case .ask(let ticket, _, _, _, _) = $0 { ticket } else { nil } }.first
    }
    /// What it is for.
    var askedTarget: TargetID? {
        compactMap { if case .ask(_, let target, _, _, _) = $0 { target } else { nil } }.first
    }
    var probed: Ticket? { compactMap { if case .probe(let ticket, _) = $0 { ticket } else { nil } }.first }
    var lookedForClaim: Ticket? {
        compactMap { if case .lookForClaim(let ticket) = $0 { ticket } else { nil } }.first
    }
    /// Those who are told of a failure.
    var failed: [WaiterID] {
        compactMap { if case .wake(let id, .failure) = $0 { id } else { nil } }
    }
    var readCount: Int { count { if case .read = $0 { true } else { false } } }
    var performed: Ticket? {
        compactMap { if case .perform(let ticket, _, _) = $0 { ticket } else { nil } }.first
    }
    var hungUp: [Ticket] { compactMap { if case .hangUp(let ticket) = $0 { ticket } else { nil } } }
    /// The refresh tokens of the sessions to be written.
    var saved: [Secret] {
        compactMap { if case .save(_, let session, _, _) = $0 { session.refreshToken } else { nil } }
    }
    /// The generations to be marked as spent.
    var marked: [Int] {
        compactMap { if case .spend(_, let session) = $0 { session.generation } else { nil } }
    }
    /// For each lease given back, whether the mark stays.
    var releases: [Bool] { compactMap { if case .release(_, let isLeft) = $0 { isLeft } else { nil } } }
    var revoked: [String] {
        compactMap { action in
            if case .revoke(let token, _, _) = action { token.withPlaintext { $0 } } else { nil }
        }
    }
    /// The clients in whose names that is done.
    var revokers: [String] {
        compactMap { if case .revoke(_, _, let client) = $0 { client.configuration.clientID } else { nil } }
    }
    /// The failures of the store that people hear of.
    var storeFailures: [StoreError] {
        compactMap { if case .report(.storeFailed(_, let error)) = $0 { error } else { nil } }
    }
    /// Whether the lease is claimed, with or after the wait for it.
    var isClaiming: Bool {
        contains {
            switch $0 {
            case .lock(_, let isClaiming): isClaiming
            case .claim: true
            default: false
            }
        }
    }
    var isQuiet: Bool { contains { if case .quiet = $0 { true } else { false } } }
    func isFinished(_ id: CommandID) -> Bool {
        contains { if case .finish(id, _) = $0 { true } else { false } }
    }
}
