// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The key that a session's tokens are bound to.
extension AuthState {
    /// The request proved to have `key`, so that what it brings may be bound to it.
    mutating func proved(with key: ProofKey?) {
        if let key { session.proofKey = key }
    }
}
