// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange

/// What is known of a client while its request is in flight.
struct ClientPresence {
    enum State {
        /// It has no request in flight.
        case idle
        /// Nobody has looked yet.
        case unseen
        /// It was there, and may still send of its body: whoever receives that would swallow the sign of a reset behind
        /// it.
        case sending
        /// It was there, and an edge will tell of its end.
        case present
        /// It has ended its direction.
        case halfClosed
        /// Whatever was done for it has been ended.
        case gone
    }

    var state = State.idle
    /// When it was looked at last.
    var lookedAt = ContinuousClock.now
    /// What had passed, and since when nothing has, where the client has ended its direction.
    var progress: ExchangeProgress?
    var movedAt = ContinuousClock.now
    /// Carries out a wait that ends with the client, while it is under way.
    var wait: Task<Void, Never>?
}
