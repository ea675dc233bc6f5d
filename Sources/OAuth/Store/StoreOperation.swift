// SPDX-License-Identifier: Apache-2.0

/// An operation that a session asks of its store.
public enum StoreOperation: String, Sendable {
    /// Reading what is stored.
    case load
    /// Writing a session.
    case save
    /// Locking an identity, so that no other process rotates its refresh token.
    case lock
    /// Keeping an identity in the directory that every process looks in.
    case place
}
