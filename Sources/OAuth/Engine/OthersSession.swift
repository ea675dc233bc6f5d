// SPDX-License-Identifier: Apache-2.0

/// Another client's session, which the store holds in place of ours until a person replaces it.
struct OthersSession: Sendable {
    /// The server and client that it belongs to.
    let binding: String
    /// Its beginning: see ``StoredSession/origin``.
    let origin: String
    /// When a person began it; nil where that is not known.
    let began: WallTime?
}
