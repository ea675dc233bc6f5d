// SPDX-License-Identifier: Apache-2.0

/// The reasons for which a request was sent again, and what the present response has been judged to be.
struct Repetition {
    /// It was sent again with the upstream's newest DPoP nonce and the same token.
    var hasNewNonce = false
    /// It was sent again with another token, which the upstream has not yet accepted.
    var isTokenOnTrial = false
    /// The response was judged as the refusal of a gRPC call when its head came.
    var isCallRefused = false
    /// The upstream has not processed it, and wants it by its other protocol.
    var isDeclined = false
}
