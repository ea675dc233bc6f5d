// SPDX-License-Identifier: Apache-2.0

/// The reasons for which a request was sent again, because the previous response asked for it.
struct Repetition {
    /// It was sent again with the upstream's newest DPoP nonce and the same token.
    var hasNewNonce = false
    /// It was sent again with another token, which the upstream has not yet accepted.
    var isTokenOnTrial = false
}
