// SPDX-License-Identifier: Apache-2.0

/// What a request has been sent once more with, because the answer before asked for it.
struct Repetition {
    /// The upstream's newest nonce, with the token that the request has now.
    var hasNewNonce = false
    /// Another token, of which the upstream has not said yet whether it takes it.
    var isTokenOnTrial = false
}
