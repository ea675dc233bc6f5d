// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A secret that can be replaced while it is in use.
package final class CurrentSecret: Sendable {
    private let secret: Mutex<Secret>

    package init(_ secret: Secret) { self.secret = Mutex(secret) }

    package func replace(with secret: Secret) { self.secret.withLock { $0 = secret } }

    /// Compares in a time that depends only on the length.
    package func matches(_ candidate: [UInt8]) -> Bool {
        let secret = secret.withLock { $0 }
        return secret.matches(candidate)
    }

    /// A hash of the secret and the salt; it changes when the secret is replaced.
    package func digest(salted salt: [UInt8]) -> [UInt8] {
        let secret = secret.withLock { $0 }
        return secret.withPlaintextBytes { bytes in
            var message = salt
            for index in bytes.indices { message.append(bytes[index]) }
            return SHA256.digest(message)
        }
    }
}
