// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdObservability
internal import OAuth

extension HTTPResponse {
    /// The challenge to a token (RFC 6750 §3, RFC 9449 §7.1).
    var bearerChallenge: BearerChallenge? { BearerChallenge(toToken: fields.values(of: .wwwAuthenticate)) }

    /// The error in a 401's or 403's challenge (RFC 6750 §3.1).
    var challengeError: ChallengeError { ChallengeError(code: bearerChallenge?.error?.rawValue) }

    /// True if the request was refused only because its DPoP proof lacked a current nonce (RFC 9449 §9).
    var asksForNonce: Bool {
        status == 401 && BearerChallenge.asksForNonce(status: 401, fields.values(of: .wwwAuthenticate))
    }
}
