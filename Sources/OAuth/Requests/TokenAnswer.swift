// SPDX-License-Identifier: Apache-2.0

package import Cryptography
import HTTPMessages

/// An answer of the token endpoint, judged.
///
/// Reading one never fails: everything a server can send has a meaning.
package struct TokenAnswer: Sendable {
    /// The token, or why there is none.
    package let result: Result<TokenGrant, TokenFailure>
    /// The refresh token that came with it, whatever else is wrong with the answer.
    package let refreshToken: Secret?
    /// What a login keeps of an answer that has a refresh token, but no access token that can be used.
    let remainder: TokenGrant?

    /// Judges `response` to a request made with `grant`; `wall` is for a `Retry-After` that is a date, and a request that
    /// `isProved` asked for a token that is bound to its key.
    package init(
        _ response: ProviderResponse, to grant: Grant, of configuration: ClientConfiguration, wall: WallTime,
        isProved: Bool = false
    ) {
        let body = AnswerBody(response.body)
        let isSuccess = 200..<300 ~= response.status
        let success = isSuccess ? TokenAnswerMembers(body) : nil
        refreshToken =
            success?.refreshToken
            ?? (isSuccess ? TokenAnswerMembers.refreshToken(inBroken: response.body) : nil)
        let judge = OutcomeTable(
            response, body, grant: grant, grantType: configuration.grantType,
            retryAfter: RetryAfter.delay(in: response.fields, wall: wall))
        if let failure = judge.failure {
            result = .failure(failure)
        } else if let success {
            result = success.grant(
                accepting: configuration.acceptedTokenTypes(isProved: isProved), isProved: isProved
            ).mapError { failure in
                var failure = failure
                failure.detail = "the answer of \(response.place): \(failure.detail)"
                return failure
            }
        } else {
            result = .failure(
                TokenFailure(
                    .transient, .emptyAnswer,
                    detail: "the answer of \(response.place) has no JSON object"))
        }
        // A profile that wants tokens bound takes no part of an answer that has others.
        if configuration.profile == .fapi2, case .failure(let failure) = result,
            failure.reason == .wrongTokenType
        {
            remainder = nil
        } else {
            remainder = success?.remainder
        }
    }
}

extension ClientConfiguration {
    /// The types of tokens that are used though they are bound to no key.
    fileprivate func acceptedTokenTypes(isProved: Bool) -> [String] {
        isProved && profile == .fapi2 ? [] : acceptedTokenTypes
    }
}
