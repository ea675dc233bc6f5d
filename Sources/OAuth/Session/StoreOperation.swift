// SPDX-License-Identifier: Apache-2.0

/// What a session asks of its store.
public enum StoreOperation: String, Sendable {
    /// Reading what is stored.
    case load
    /// Writing.
    case save
    /// Keeping others out.
    case lock
    /// Being where every process looks.
    case place
}
