// SPDX-License-Identifier: Apache-2.0

/// What a session asks of its store.
public enum StoreOperation: String, Sendable {
    case load
    case save
    case lock
}
