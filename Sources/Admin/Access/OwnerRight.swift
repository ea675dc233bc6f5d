// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The admin key, a user of this machine, or both, that let a request end, replace or begin a session.
struct OwnerRight: Equatable, Sendable {
    /// The hash of the admin key that came with the request; nil for none.
    var keyDigest: [UInt8]?
    /// The user who sent it; nil for one who has no right.
    var user: PeerUser?
}
