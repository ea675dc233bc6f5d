// SPDX-License-Identifier: Apache-2.0

/// What is known of a client while its request is in flight.
enum ClientState {
    /// It has no request in flight.
    case idle
    /// Nobody has looked yet.
    case unseen
    /// It was there, and may still send of its body: whoever receives that would swallow the sign of a reset behind it.
    case sending
    /// It was there, and an edge will tell of its end.
    case present
    /// It has ended its direction.
    case halfClosed
    /// Whatever was done for it has been ended.
    case gone
}
