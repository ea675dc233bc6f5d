// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The exchanges that are under way, one for each caller.
///
/// Confined to its session.
final class CallerExchanges {
    /// More wait for the provider at once: callers can make up tokens faster than it can judge them.
    private static let most = 100

    private var waiters: [CallerToken.Digest: [TokenWaiter<CallerTokens.Known>]] = [:]
    /// Counts the tokens.
    private(set) var generation = 0
    /// Counts how often all was forgotten: what was asked for before is not kept.
    private(set) var epoch = 0
    /// What their tokens are bound to.
    var proofKey: ProofKey?

    var isFull: Bool { waiters.count >= Self.most }

    func beginEpoch() { epoch += 1 }

    func nextGeneration() -> Int {
        generation += 1
        return generation
    }

    /// Waits with the others.
    ///
    /// - Returns: whether it is the first, for whom nobody asks yet.
    func join(_ waiter: TokenWaiter<CallerTokens.Known>, for digest: CallerToken.Digest) -> Bool {
        waiters[digest, default: []].append(waiter)
        return waiters[digest]?.count == 1
    }

    func isUnderWay(_ digest: CallerToken.Digest) -> Bool { waiters[digest] != nil }

    func end(_ digest: CallerToken.Digest, with outcome: Result<CallerTokens.Known, TokenError>) {
        for waiter in waiters.removeValue(forKey: digest) ?? [] { waiter.wake(with: outcome) }
    }
}
