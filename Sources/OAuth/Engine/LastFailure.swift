// SPDX-License-Identifier: Apache-2.0

/// A failure to get a token, and when to ask again.
struct LastFailure: Sendable {
    let cause: TokenFailure
    /// How many of its kind there were in a row.
    let count: Int
    var retry: Instant
    let at: WallTime
}
