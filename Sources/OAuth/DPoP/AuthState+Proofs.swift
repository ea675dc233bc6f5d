// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// The key that the session's tokens are bound to.
extension AuthState {
    /// Keeps the key of a request's proof; its tokens may be bound to it.
    mutating func proved(with key: ProofKey?) {
        if let key { session.proofKey = key }
    }
}
