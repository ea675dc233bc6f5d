// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A secret that can be replaced while it is in use.
package final class CurrentSecret: Sendable {
    private let state: Mutex<(secret: Secret, replacements: Int, readAt: ContinuousClock.Instant)>

    package init(_ secret: Secret) { state = Mutex((secret, 0, .now)) }

    /// Puts a secret in force, unless the present one was read later.
    ///
    /// - Parameter readAt: when its reading began, which may end after one that began later: a disk may stand still.
    /// - Returns: false if the present one stays.
    @discardableResult
    package func replace(with secret: Secret, readAt: ContinuousClock.Instant) -> Bool {
        state.withLock {
            guard readAt >= $0.readAt else { return false }
            $0 = (secret, $0.replacements + 1, readAt)
            return true
        }
    }

    /// How often the secret was replaced: whoever was let in by an earlier one is known by it.
    package var replacements: Int { state.withLock { $0.replacements } }

    private var secret: Secret { state.withLock { $0.secret } }

    /// Compares in a time that depends only on the length.
    package func matches(_ candidate: [UInt8]) -> Bool { secret.matches(candidate) }

    /// A hash of the secret and the salt; it changes when the secret is replaced.
    package func digest(salted salt: [UInt8]) -> [UInt8] {
        secret.withPlaintextBytes { bytes in
            var message = salt
            for index in bytes.indices { message.append(bytes[index]) }
            return SHA256.digest(message)
        }
    }
}
