// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The token exchanges under way, one for each caller, and the queued ones.
///
/// Groups of callers take turns, so that no peer can hold up the others with many tokens. Confined to its session.
final class CallerExchanges {
    /// A caller whose token is to be exchanged.
    struct Candidate {
        let caller: CallerToken
        let group: CallerGroup
        /// The group of its peer; ``group`` differs if the caller was served before.
        let peer: CallerGroup
        /// Tells exchanges of one caller apart: one may be under way since before all tokens were forgotten.
        fileprivate(set) var number = 0
    }

    /// The most exchanges at once: callers can make up tokens faster than the authorization server can judge them.
    private static let mostUnderWay = 100
    private static let mostQueued = 1000

    /// Those who wait for each exchange, by its number.
    private var waiters: [Int: [OneTimeWaiter<CallerTokens.Known>]] = [:]
    /// The exchange that whoever asks for a caller's token now waits for.
    private var awaited: [CallerToken.Digest: Int] = [:]
    private var lastNumber = 0
    private var underWay: [Int: CallerGroup] = [:]
    /// The number of exchanges under way for each group.
    private var busy: [CallerGroup: Int] = [:]
    /// The queued callers of each group, in order; no queue is empty.
    private var queues: [CallerGroup: [Candidate]] = [:]
    /// The groups with a queue, the next one first.
    private var order: [CallerGroup] = []
    private var queued = 0
    /// The number of the last token.
    private(set) var generation = 0
    /// Counts how often all tokens were forgotten; the token of an exchange of an earlier epoch is not kept.
    private(set) var epoch = 0
    /// The key that callers' tokens are bound to.
    var proofKey: ProofKey?
    /// The failed exchanges.
    var failures = CallerFailures()

    private func isWanted(_ candidate: Candidate) -> Bool {
        waiters[candidate.number]?.contains { !$0.isWoken } ?? false
    }

    /// Forgets all that was known; what an exchange brings that is under way is for those alone who wait for it already.
    func beginEpoch() {
        epoch += 1
        failures = CallerFailures()
        awaited = awaited.filter { underWay[$0.value] == nil }
    }

    func nextGeneration() -> Int {
        generation += 1
        return generation
    }

    // MARK: Queues

    /// Returns true if an exchange for this caller is queued or under way that brings what may be used from now on.
    func isAwaited(_ digest: CallerToken.Digest) -> Bool { awaited[digest] != nil }

    /// Makes room for one more of a group: by dropping callers that nobody waits for, else the last of a longer queue.
    ///
    /// - Returns: true if there is room.
    func makeRoom(for group: CallerGroup) -> Bool {
        guard queued >= Self.mostQueued else { return true }
        for (group, queue) in queues { replace(queue.filter { keeps($0) }, of: group) }
        guard queued >= Self.mostQueued else { return true }
        guard let longest = queues.max(by: { $0.value.count < $1.value.count }),
            (queues[group]?.count ?? 0) + 1 < longest.value.count, let last = longest.value.last
        else { return false }
        replace(Array(longest.value.dropLast()), of: longest.key)
        end(last, with: .failure(.unavailable(retryAfter: .seconds(1))))
        return true
    }

    private func keeps(_ candidate: Candidate) -> Bool {
        guard !isWanted(candidate) else { return true }
        _ = removeWaiters(of: candidate)
        return false
    }

    private func removeWaiters(of candidate: Candidate) -> [OneTimeWaiter<CallerTokens.Known>] {
        let digest = candidate.caller.digest
        if awaited[digest] == candidate.number { awaited[digest] = nil }
        return waiters.removeValue(forKey: candidate.number) ?? []
    }

    private func replace(_ queue: [Candidate], of group: CallerGroup) {
        queued += queue.count - (queues[group]?.count ?? 0)
        queues[group] = queue.isEmpty ? nil : queue
        if queue.isEmpty { order.removeAll { $0 == group } }
    }

    /// Adds a waiter for a caller's token; the first one queues the exchange.
    func join(_ waiter: OneTimeWaiter<CallerTokens.Known>, for candidate: Candidate) {
        let digest = candidate.caller.digest
        if let number = awaited[digest] {
            waiters[number, default: []].append(waiter)
            return
        }
        lastNumber += 1
        var candidate = candidate
        candidate.number = lastNumber
        if queues[candidate.group] == nil { order.append(candidate.group) }
        queues[candidate.group, default: []].append(candidate)
        queued += 1
        awaited[digest] = candidate.number
        waiters[candidate.number] = [waiter]
    }

    /// Ends the queued exchanges of a session that has stopped, but none that is under way.
    func stopQueued() {
        let candidates = queues.values.joined()
        (queues, order, queued) = ([:], [], 0)
        for candidate in candidates { end(candidate, with: .failure(.stopped)) }
    }

    // MARK: Order

    /// Dequeues the next caller that somebody waits for; nil if there is none, or too many exchanges are under way.
    func next(at now: Instant) -> Candidate? {
        for group in order where hasPlace(group) && failures.next(in: group).map({ $0 <= now }) ?? true {
            guard let candidate = takeFirst(of: group, at: now) else { continue }
            if queues[group] != nil {
                order.removeAll { $0 == group }
                order.append(group)
            }
            underWay[candidate.number] = group
            busy[group, default: 0] += 1
            failures.began(in: group, at: now)
            return candidate
        }
        return nil
    }

    /// When to call ``next(at:)`` again though nothing has happened; nil for never.
    var nextMoment: Instant? { order.compactMap { hasPlace($0) ? failures.next(in: $0) : nil }.min() }

    /// Returns true if the group may begin an exchange.
    ///
    /// Served callers have places of their own, and so have peers with no exchange under way.
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
            guard keeps(candidate) else { continue }
            guard let barrier = failures.barrier(to: digest, in: group, at: now) else { return candidate }
            end(candidate, with: .failure(barrier))
        }
        return nil
    }

    /// Ends an exchange that ``next(at:)`` has returned, or one that is queued.
    func end(_ candidate: Candidate, with outcome: Result<CallerTokens.Known, TokenError>) {
        if let group = underWay.removeValue(forKey: candidate.number) {
            busy[group] = (busy[group] ?? 0) > 1 ? (busy[group] ?? 0) - 1 : nil
        }
        for waiter in removeWaiters(of: candidate) { waiter.wake(with: outcome) }
    }
}

/// The callers that share failures and a queue.
enum CallerGroup: Hashable, Sendable {
    /// Callers with an earlier success, which other callers' failures do not hold up.
    case served
    /// All other callers of one peer (a user of this machine, or a host), which can make up any number of tokens.
    case peer([UInt8])
}
