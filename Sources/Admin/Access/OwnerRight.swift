// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// The right by which a request may end, replace or begin a session.
enum OwnerRight: Equatable, Sendable {
    /// The admin key, known by its hash.
    case key(digest: [UInt8])
    /// A user of this machine.
    case user(PeerUser)
}
