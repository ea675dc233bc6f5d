// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The exchanges that are under way, one for each caller, and those that wait for their turn.
///
/// Groups of callers have their turns one after the other, so that nobody waits for all that one peer makes up. Confined to
/// its session.
final class CallerExchanges {
    /// A caller whose token is to be exchanged.
    struct Candidate {
        let caller: CallerToken
        let group: CallerGroup
        /// That of its peer, which is not its own if it was served before.
        let peer: CallerGroup
    }

    /// More do not wait for the provider at once: callers can make up tokens faster than it can judge them.
    private static let mostUnderWay = 100
    /// More do not wait for their turn.
    private static let mostQueued = 1000

    private var waiters: [CallerToken.Digest: [TokenWaiter<CallerTokens.Known>]] = [:]
    private var underWay: [CallerToken.Digest: CallerGroup] = [:]
    /// How many of each group are under way.
    private var busy: [CallerGroup: Int] = [:]
    /// Those who wait for their turn, in the order in which they came; none is empty.
    private var queues: [CallerGroup: [Candidate]] = [:]
    /// The groups that have somebody waiting, in the order of their turns.
    private var turns: [CallerGroup] = []
    private var queued = 0
    /// Counts the tokens.
    private(set) var generation = 0
    /// Counts how often all was forgotten: what was asked for before is not kept.
    private(set) var epoch = 0
    /// What their tokens are bound to.
    var proofKey: ProofKey?
    /// For whom the provider had no good answer.
    var failures = CallerFailures()

    private func isWanted(_ digest: CallerToken.Digest) -> Bool {
        waiters[digest]?.contains { !$0.isWoken } ?? false
    }

    func beginEpoch() {
        epoch += 1
        failures = CallerFailures()
    }

    func nextGeneration() -> Int {
        generation += 1
        return generation
    }

    // MARK: Those who wait

    /// Whether somebody waits for an exchange for this caller already.
    func isAwaited(_ digest: CallerToken.Digest) -> Bool { waiters[digest] != nil }

    /// Makes room for one more of a group: those go for whom nobody waits any more, else the last of the longest queue,
    /// where the group's own is shorter.
    ///
    /// - Returns: whether there is room.
    func makeRoom(for group: CallerGroup) -> Bool {
        guard queued >= Self.mostQueued else { return true }
        for (group, queue) in queues { replace(queue.filter { keeps($0) }, of: group) }
        guard queued >= Self.mostQueued else { return true }
        guard let longest = queues.max(by: { $0.value.count < $1.value.count }),
            (queues[group]?.count ?? 0) + 1 < longest.value.count, let last = longest.value.last
        else { return false }
        replace(Array(longest.value.dropLast()), of: longest.key)
        end(last.caller.digest, with: .failure(.unavailable(retryAfter: .seconds(1))))
        return true
    }

    private func keeps(_ candidate: Candidate) -> Bool {
        guard !isWanted(candidate.caller.digest) else { return true }
        waiters[candidate.caller.digest] = nil
        return false
    }

    private func replace(_ queue: [Candidate], of group: CallerGroup) {
        queued += queue.count - (queues[group]?.count ?? 0)
        queues[group] = queue.isEmpty ? nil : queue
        if queue.isEmpty { turns.removeAll { $0 == group } }
    }

    /// Waits with those who wait for the same caller's token; the first of them takes its place in its group's queue.
    func join(_ waiter: TokenWaiter<CallerTokens.Known>, for candidate: Candidate) {
        if waiters[candidate.caller.digest] == nil {
            if queues[candidate.group] == nil { turns.append(candidate.group) }
            queues[candidate.group, default: []].append(candidate)
            queued += 1
        }
        waiters[candidate.caller.digest, default: []].append(waiter)
    }

    /// Ends what waits for its turn, and nothing that is under way.
    func endQueued(with error: TokenError) {
        let candidates = queues.values.joined()
        (queues, turns, queued) = ([:], [], 0)
        for candidate in candidates { end(candidate.caller.digest, with: .failure(error)) }
    }

    // MARK: Turns

    /// Takes the next caller for whom somebody still waits, and whose turn it is.
    ///
    /// - Returns: nil while there is none, or no place for one.
    func next(at now: Instant) -> Candidate? {
        for group in turns where hasPlace(group) && failures.next(in: group).map({ $0 <= now }) ?? true {
            guard let candidate = takeFirst(of: group, at: now) else { continue }
            if queues[group] != nil {
                turns.removeAll { $0 == group }
                turns.append(group)
            }
            underWay[candidate.caller.digest] = group
            busy[group, default: 0] += 1
            failures.began(in: group, at: now)
            return candidate
        }
        return nil
    }

    /// When ``next(at:)`` is to be asked again though nothing has happened; nil if it need not be.
    var nextMoment: Instant? { turns.compactMap { hasPlace($0) ? failures.next(in: $0) : nil }.min() }

    /// Those who were served have places of their own, and a peer of which nothing is under way need not wait for others.
    private func hasPlace(_ group: CallerGroup) -> Bool {
        let served = busy[.served] ?? 0
        guard group != .served else { return served < Self.mostUnderWay }
        let others = underWay.count - served
        return others < (busy[group] == nil ? 2 : 1) * Self.mostUnderWay
    }

    private func takeFirst(of group: CallerGroup, at now: Instant) -> Candidate? {
        while var queue = queues[group] {
            let candidate = queue.removeFirst()
            replace(queue, of: group)
            let digest = candidate.caller.digest
            guard isWanted(digest) else {
                waiters[digest] = nil
                continue
            }
            guard let barrier = failures.barrier(to: digest, in: group, at: now) else { return candidate }
            end(digest, with: .failure(barrier))
        }
        return nil
    }

    func end(_ digest: CallerToken.Digest, with outcome: Result<CallerTokens.Known, TokenError>) {
        if let group = underWay.removeValue(forKey: digest) {
            busy[group] = (busy[group] ?? 0) > 1 ? (busy[group] ?? 0) - 1 : nil
        }
        for waiter in waiters.removeValue(forKey: digest) ?? [] { waiter.wake(with: outcome) }
    }
}
