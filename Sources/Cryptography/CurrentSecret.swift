// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A secret that can be replaced while it is in use.
package final class CurrentSecret: Sendable {
    private let secret: Mutex<Secret>

    /// Begins with this one.
    package init(_ secret: Secret) {
        self.secret = Mutex(secret)
    }

    /// Has another secret count from now on.
    package func replace(with secret: Secret) {
        self.secret.withLock { $0 = secret }
    }

    /// Compares in a time that depends on the length alone.
    package func matches(_ candidate: [UInt8]) -> Bool {
        let secret = secret.withLock { $0 }
        return secret.matches(candidate)
    }

    /// What only who has the secret, and the salt, could have made: it ends with the secret.
    package func digest(salted salt: [UInt8]) -> [UInt8] {
        let secret = secret.withLock { $0 }
        return secret.withPlaintextBytes { bytes in
            var message = salt
            for index in bytes.indices { message.append(bytes[index]) }
            return SHA256.digest(message)
        }
    }
}
