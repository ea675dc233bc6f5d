// SPDX-License-Identifier: Apache-2.0

/// Keeps a route whose upstream refuses our tokens from forcing one refresh after the other.
///
/// It is a floor: nothing that the route accepts meanwhile shortens it below ten seconds.
struct HoldOff: Sendable {
    /// The route forces nothing before this moment.
    private(set) var until: Instant
    private var length: Duration
    /// The generation that the forced refresh brought; nil until it has.
    private var forced: Int?
    /// Whether the route accepted that one.
    private var isAccepted = false
    /// Whether it was of no use: the route refused it again.
    private var isInVain = false
    /// The newest generation the route refused.
    private(set) var refused: Int

    /// The first one of a route, which has just refused `generation`.
    init(refusing generation: Int, at now: Instant) {
        length = BackOff.holdOff.first
        until = now + length
        refused = generation
    }

    /// The route refused `generation`; `isReplayed` says whether in a request that it had refused already.
    mutating func refuse(_ generation: Int, isReplayed: Bool) {
        refused = max(refused, generation)
        if generation == forced, isReplayed || !isAccepted { isInVain = true }
    }

    /// The route accepted `generation`; for a request that it had refused the waiting starts anew.
    mutating func accept(_ generation: Int, isReplayed: Bool) {
        guard generation == forced else { return }
        isAccepted = true
        guard isReplayed else { return }
        isInVain = false
        until = min(until, until - length + BackOff.holdOff.first)
        length = BackOff.holdOff.first
    }

    /// A refresh is forced again: the next one after twice the time if the last one was in vain.
    mutating func renew(at now: Instant) {
        length = isInVain ? BackOff.holdOff.next(after: length) : BackOff.holdOff.first
        until = now + length
        forced = nil
        isAccepted = false
        isInVain = false
    }

    /// A refresh brought `generation`.
    mutating func renewed(to generation: Int) {
        forced = forced ?? generation
    }

    /// Whether nothing was refused for so long that the route starts anew.
    func isForgotten(at now: Instant) -> Bool { until + length <= now }
}
