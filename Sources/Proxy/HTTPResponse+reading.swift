// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import OAuth
internal import Observability

extension HTTPResponse {
    /// What a 401 or 403 says is wrong with the token (RFC 6750 3.1).
    var challengeError: ChallengeError {
        let challenge = BearerChallenge(in: fields.values(of: .wwwAuthenticate))
        return ChallengeError(code: challenge?.error?.rawValue)
    }
}
