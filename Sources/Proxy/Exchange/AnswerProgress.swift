// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The progress of a response from the upstream to the client.
struct AnswerProgress {
    /// The length of the upstream's content.
    var length = BodyLength.none
    /// True once a byte of the final head has been sent to the client.
    var hasBegun = false
    /// True if it goes on until somebody ends it, for all that is known; nil until somebody has asked.
    var isEndless: Bool?
    /// True if the whole response was sent while the request is still arriving.
    var isWhole = false
}
