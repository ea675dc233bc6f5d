// SPDX-License-Identifier: Apache-2.0

/// The reason why a proof of possession is invalid (RFC 9449 §4.3).
struct ProofError: Error {
    /// Text for developers, in the characters that RFC 6749 §5.2 allows.
    let reason: String

    init(_ reason: String) {
        self.reason = reason
    }
}
