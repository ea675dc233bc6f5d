// SPDX-License-Identifier: Apache-2.0

/// Keeps a route whose upstream refuses our tokens from forcing one refresh after the other.
struct HoldOff: Sendable {
    /// The route forces nothing before this moment.
    private(set) var until: Instant
    private(set) var length: Duration
    /// The generation that the forced refresh brought; nil until it has.
    private(set) var forced: Int?
    /// The newest generation the route refused.
    private(set) var refused: Int

    /// The first one of a route, which has just refused `generation`.
    init(refusing generation: Int, at now: Instant) {
        length = BackOff.holdOff.first
        until = now + length
        refused = generation
    }

    /// The route refused `generation`.
    mutating func refuse(_ generation: Int) {
        refused = max(refused, generation)
    }

    /// A refresh is forced again: longer than before if the token it brought last time was refused.
    mutating func renew(at now: Instant) {
        let wasInVain = forced.map { $0 <= refused } ?? false
        length = wasInVain ? BackOff.holdOff.next(after: length) : BackOff.holdOff.first
        until = now + length
        forced = nil
    }

    /// A refresh brought `generation`.
    mutating func renewed(to generation: Int) {
        forced = forced ?? generation
    }

    /// Whether nothing was refused for so long that the route starts anew.
    func isForgotten(at now: Instant) -> Bool { until + length <= now }
}
