// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import OAuth
internal import BearerdObservability

extension HTTPResponse {
    /// What a 401 or 403 says is wrong with the token (RFC 6750 3.1, RFC 9449 7.1); some servers answer in both schemes.
    var challengeError: ChallengeError {
        let values = fields.values(of: .wwwAuthenticate)
        let error =
            BearerChallenge(in: values)?.error ?? BearerChallenge(in: values, ofScheme: .dpop)?.error
        return ChallengeError(code: error?.rawValue)
    }

    /// Whether the request was refused for the nonce that its proof should have had, and nothing else (RFC 9449 9).
    var asksForNonce: Bool {
        status == 401 && BearerChallenge.asksForNonce(status: 401, fields.values(of: .wwwAuthenticate))
    }
}
