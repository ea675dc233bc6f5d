// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// How far an answer has come on its way from the upstream to the client.
struct AnswerProgress {
    /// How much content the upstream's answer has.
    var length = BodyLength.none
    /// Whether a byte of the final head was sent to the client.
    var hasBegun = false
    /// Whether all of it was sent on while the request still comes.
    var isWhole = false
}
