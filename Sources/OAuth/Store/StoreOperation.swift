// SPDX-License-Identifier: Apache-2.0

/// An operation that a session asks of its store.
public enum StoreOperation: String, Sendable {
    /// Reading what is stored.
    case load
    /// Writing a session.
    case save
    /// Locking an identity, so that no other process rotates its refresh token.
    case lock
    /// Noting that a refresh token is about to be sent, for a process that starts meanwhile.
    case mark
    /// Keeping an identity in the directory that every process looks in.
    case place
}
