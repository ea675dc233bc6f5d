// SPDX-License-Identifier: Apache-2.0

/// A report about the Redis store, without secrets.
package enum RedisEvent: Equatable, Sendable {
    /// The server cannot be used; reported once or twice for each outage.
    case lost(reason: String)
    /// It can be used again.
    case found
    /// A right is missing without which sessions are stored, but others learn of it late or wait for the lock.
    case hindered(reason: String)
    /// The value of a key is no session of ours and is not used.
    case damaged(identity: String, key: String)
}
