// SPDX-License-Identifier: Apache-2.0

package import BearerdCryptography

/// The result of one token request: the judged response, or why there is none.
package struct TokenRequestResult: Sendable {
    /// The tokens, or why there are none.
    package var result: Result<TokenResponse, TokenFailure>
    /// A refresh token of the response; to be kept even if ``result`` is a failure.
    package var refreshToken: Secret?
    /// ``refreshToken``, or that of the tokens.
    var anyRefreshToken: Secret? { refreshToken ?? (try? result.get())?.refreshToken }
    /// The response of a failed request without its unusable access token, if it has a refresh token; a login keeps that.
    var remainder: TokenResponse?
    /// The key that the request proved possession of (RFC 9449); nil without a proof.
    var proofKey: ProofKey?
    /// When the request was sent; the token's lifetime counts from here.
    var sentAt: Instant
    /// The civil time at ``sentAt``.
    var wall: WallTime

    /// Judges a response to a request made with `grant`; every response gives a result.
    ///
    /// - Parameters:
    ///   - configuration: that of the client that asked.
    ///   - key: the key that the request proved possession of.
    package init(
        _ response: TransportResponse, to grant: Grant, of configuration: ClientConfiguration,
        provedWith key: ProofKey? = nil, sentAt: Instant, wall: WallTime
    ) {
        let body = ResponseBody(response.body)
        let isSuccess = 200..<300 ~= response.status
        let error = ErrorResponse(
            response: response, body: body, grant: grant, grantType: configuration.grantType, wall: wall)
        let wantsBound = key != nil && configuration.profile == .fapi2
        if let failure = error.failure {
            result = .failure(failure)
        } else if isSuccess, case .object = body {
            result = body.tokenResponse(
                accepting: wantsBound ? [] : configuration.acceptedTokenTypes,
                of: configuration.name(of: .acceptedTokenTypes), provedWith: key
            ).mapError { failure in
                var failure = failure
                failure.detail = "the answer of \(response.place): \(failure.detail)"
                return failure
            }
        } else {
            result = .failure(
                TokenFailure(
                    .transient, .emptyResponse,
                    detail:
                        "the answer of \(response.place) \(response.isPage ? "is a page of HTML" : "has no JSON object")"
                ))
        }
        result = result.mapError { $0.at(response.server) }
        refreshToken = isSuccess ? body.refreshToken ?? Self.refreshToken(inPartial: response.body) : nil
        remainder = isSuccess ? body.tokenResponseWithoutAccess(provedWith: key) : nil
        // FAPI 2.0 takes no part of a response whose token is not bound.
        if configuration.profile == .fapi2, case .failure(let failure) = result,
            failure.reason == .wrongTokenType
        {
            remainder = nil
        }
        proofKey = key
        self.sentAt = sentAt
        self.wall = wall
    }

    /// A request that failed without a whole response.
    init(
        result: Result<TokenResponse, TokenFailure>, refreshToken: Secret? = nil, proofKey: ProofKey? = nil,
        sentAt: Instant, wall: WallTime
    ) {
        self.result = result
        self.refreshToken = refreshToken
        self.proofKey = proofKey
        self.sentAt = sentAt
        self.wall = wall
    }

    /// The refresh token of a body that is no whole JSON object; it may be the only one that works.
    static func refreshToken(inPartial body: [UInt8]) -> Secret? {
        ResponseBody.string(.refreshToken, inPartial: body).map { Secret($0) }
    }
}
