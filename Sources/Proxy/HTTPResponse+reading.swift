// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import OAuth
internal import BearerdObservability

extension HTTPResponse {
    /// The error in a 401's or 403's challenge (RFC 6750 §3.1, RFC 9449 §7.1).
    ///
    /// Both schemes are read, because some servers answer in both.
    var challengeError: ChallengeError {
        let values = fields.values(of: .wwwAuthenticate)
        let error =
            BearerChallenge(in: values)?.error ?? BearerChallenge(in: values, ofScheme: .dpop)?.error
        return ChallengeError(code: error?.rawValue)
    }

    /// True if the request was refused only because its DPoP proof lacked a current nonce (RFC 9449 §9).
    var asksForNonce: Bool {
        status == 401 && BearerChallenge.asksForNonce(status: 401, fields.values(of: .wwwAuthenticate))
    }
}
