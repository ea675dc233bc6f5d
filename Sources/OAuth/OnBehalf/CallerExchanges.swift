// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The exchanges that are under way, one for each caller, and those that wait for their turn.
///
/// Confined to its session.
final class CallerExchanges {
    /// More do not wait for the provider at once: callers can make up tokens faster than it can judge them.
    private static let mostUnderWay = 100
    /// More do not wait for their turn.
    private static let mostQueued = 1000

    private var waiters: [CallerToken.Digest: [TokenWaiter<CallerTokens.Known>]] = [:]
    private var underWay: Set<CallerToken.Digest> = []
    /// In the order in which they came, from `queueStart` on.
    private var queue: [CallerToken] = []
    private var queueStart = 0
    /// Whom the provider is asked about to find out whether it answers again.
    private var probe: CallerToken.Digest?
    /// Counts the tokens.
    private(set) var generation = 0
    /// Counts how often all was forgotten: what was asked for before is not kept.
    private(set) var epoch = 0
    /// What their tokens are bound to.
    var proofKey: ProofKey?
    /// For whom the provider had no good answer.
    var failures = CallerFailures()

    /// Whether no more may wait for their turn; those for whom nobody waits any more make room.
    func isFull() -> Bool {
        guard queue.count - queueStart >= Self.mostQueued else { return false }
        let abandoned = queue[queueStart...].filter { !isWanted($0.digest) }
        for caller in abandoned { waiters[caller.digest] = nil }
        queue = queue[queueStart...].filter { waiters[$0.digest] != nil }
        queueStart = 0
        return queue.count >= Self.mostQueued
    }

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

    /// Waits with those who wait for the same caller's token; the first of them takes its place in the queue.
    func join(_ waiter: TokenWaiter<CallerTokens.Known>, for caller: CallerToken) {
        if waiters[caller.digest] == nil { queue.append(caller) }
        waiters[caller.digest, default: []].append(waiter)
    }

    /// Whether somebody waits for an exchange for this caller already.
    func isAwaited(_ digest: CallerToken.Digest) -> Bool { waiters[digest] != nil }

    /// Takes the next caller out of the queue for whom somebody still waits.
    ///
    /// - Parameter isProbing: whether the last answers were of no use, so that one exchange has to show that the provider
    ///   is of use again before others begin (at most one request is in flight then).
    /// - Returns: nil while there is none, or no room for one.
    func next(isProbing: Bool) -> CallerToken? {
        guard underWay.count < Self.mostUnderWay, !(isProbing && probe != nil) else { return nil }
        guard let caller = takeFirst() else { return nil }
        underWay.insert(caller.digest)
        if isProbing { probe = caller.digest }
        return caller
    }

    /// Ends what waits in the queue, and nothing that is under way.
    func endQueued(with error: TokenError) {
        while let caller = takeFirst() { end(caller.digest, with: .failure(error)) }
    }

    private func takeFirst() -> CallerToken? {
        defer {
            if queueStart == queue.count {
                queue = []
                queueStart = 0
            } else if queueStart >= Self.mostQueued {
                queue.removeFirst(queueStart)
                queueStart = 0
            }
        }
        while queueStart < queue.count {
            let caller = queue[queueStart]
            queueStart += 1
            if isWanted(caller.digest) { return caller }
            waiters[caller.digest] = nil
        }
        return nil
    }

    func end(_ digest: CallerToken.Digest, with outcome: Result<CallerTokens.Known, TokenError>) {
        underWay.remove(digest)
        if probe == digest { probe = nil }
        for waiter in waiters.removeValue(forKey: digest) ?? [] { waiter.wake(with: outcome) }
    }
}
