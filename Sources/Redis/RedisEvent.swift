// SPDX-License-Identifier: Apache-2.0

/// Something that people should hear of a store in Redis; holds no secret.
package enum RedisEvent: Equatable, Sendable {
    /// The server cannot be used; told once or twice for an outage.
    case lost(reason: String)
    /// It can be used again.
    case found
    /// Something cannot be done without which sessions can be stored, but others hear of it late or wait for the lock.
    case hindered(reason: String)
    /// What lies in a key is no session of ours, and is not used.
    case damaged(identity: String, key: String)
}
