// SPDX-License-Identifier: Apache-2.0

internal import BearerdEventLoop
internal import BearerdHTTPExchange

/// The state of a client while its request is in flight, as ``ClientWatch`` last saw it.
struct ClientPresence {
    enum State {
        /// It has no request in flight.
        case idle
        /// The watch has not looked yet.
        case unseen
        /// The client is there and may still send content.
        ///
        /// The sign of a reset stands behind that content, so the client is looked at again from time to
        /// time.
        case sending
        /// The client is there, and an event of its socket will announce its end.
        case present
        /// It has ended its direction.
        case halfClosed
        /// The client has left, and all work for it has been ended.
        case gone
    }

    var state = State.idle
    /// When the watch looked last.
    var lookedAt = PreciseInstant.now
    /// The client's progress when it was last seen to move; set once it has ended its direction.
    var progress: ExchangeProgress?
    var movedAt = PreciseInstant.now
    /// The task that waits on the client's behalf and is cancelled when it leaves.
    var wait: Task<Void, Never>?
}
