// SPDX-License-Identifier: Apache-2.0

/// Why a proof of possession is not believed (RFC 9449 §4.3).
struct ProofError: Error {
    /// For the developer, in the characters that RFC 6749 §5.2 allows.
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
