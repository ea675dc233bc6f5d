// SPDX-License-Identifier: Apache-2.0

/// The time in which a route whose upstream refuses tokens may not force another refresh: at least ten seconds.
struct HoldOff: Sendable {
    /// The route forces no refresh before this moment.
    private(set) var until: Instant
    private var length: Duration
    /// The generation of the token that the forced refresh brought; nil before that.
    private var forced: Int?
    /// True if the route accepted that token.
    private var isAccepted = false
    /// True if the route refused that token too.
    private var isInVain = false
    /// The newest generation the route refused.
    private(set) var refused: Int

    /// The first hold-off of a route, which has just refused `generation`.
    init(refusing generation: Int, at now: Instant) {
        length = BackOff.holdOff.first
        until = now + length
        refused = generation
    }

    /// Takes note that the route refused `generation`; `isReplayed` is true for a repeated request.
    mutating func refuse(_ generation: Int, isReplayed: Bool) {
        refused = max(refused, generation)
        if generation == forced, isReplayed || !isAccepted { isInVain = true }
    }

    /// Takes note that the route accepted `generation`; if in a repeated request, the length is reset.
    mutating func accept(_ generation: Int, isReplayed: Bool) {
        guard generation == forced else { return }
        isAccepted = true
        guard isReplayed else { return }
        isInVain = false
        until = min(until, until - length + BackOff.holdOff.first)
        length = BackOff.holdOff.first
    }

    /// Begins again with another forced refresh, for twice as long if the last one was in vain.
    mutating func renew(at now: Instant) {
        length = isInVain ? BackOff.holdOff.next(after: length) : BackOff.holdOff.first
        until = now + length
        forced = nil
        isAccepted = false
        isInVain = false
    }

    /// Takes note that the refresh brought `generation`.
    mutating func renewed(to generation: Int) {
        forced = forced ?? generation
    }

    /// Returns true once the hold-off has been over for its own length.
    func isForgotten(at now: Instant) -> Bool { until + length <= now }
}
