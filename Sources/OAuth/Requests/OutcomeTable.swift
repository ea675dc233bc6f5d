// SPDX-License-Identifier: Apache-2.0

import JSON

/// Sorts the answers of the token endpoint that are no success by what follows from them.
///
/// A known `error` code decides before the status does; of a 5xx only one that says no more than that.
struct OutcomeTable {
    private let status: Int
    private let body: AnswerBody
    private let detail: String
    private let words: String?
    private let page: String?
    private let grant: Grant
    private let grantType: GrantType
    private let retryAfter: Duration?

    init(
        _ response: ProviderResponse, _ body: AnswerBody, grant: Grant, grantType: GrantType,
        retryAfter: Duration?
    ) {
        status = response.status
        self.body = body
        detail = response.failureDetail
        words = response.words
        page = response.errorPage
        self.grant = grant
        self.grantType = grantType
        self.retryAfter = retryAfter
    }

    /// nil for a 200 without `error`.
    var failure: TokenFailure? {
        if let code, let kind = kind(of: code) { return failure(kind) }
        switch status {
        case 200:
            return body[.error] == nil ? nil : failure(.transient)
        case 400, 401:
            return failure(isRefresh && !isText ? .doubtful : .transient)
        case 403:
            return failure(code == .accessDenied || !hasWords ? .misconfigured : .transient)
        case 404:
            return failure(.misconfigured)
        default:
            return failure(.transient)
        }
    }

    /// What a code means whatever the status; nil where the status decides.
    private func kind(of code: ErrorCode) -> TokenFailure.Kind? {
        switch code {
        case .invalidGrant, .interactionRequired, .consentRequired, .loginRequired, .badRefreshToken,
            .badVerificationCode, .incorrectDeviceCode:
            // A grant made from configuration has nobody who could log in; its refresh token can be final, though.
            needsPerson || isRefresh ? .final : .misconfigured
        case .invalidClient, .unauthorizedClient, .invalidScope, .invalidTarget, .unsupportedGrantType,
            .incorrectClientCredentials, .deviceFlowDisabled, .redirectURIMismatch, .invalidDPoPProof:
            .misconfigured
        default:
            // `invalid_request` has none: some servers say it of a dead refresh token.
            code.isTransient ? .transient : nil
        }
    }

    /// What a gateway that is broken says of a grant or a client is no verdict on them.
    private var code: ErrorCode? { body.code.flatMap { $0.counts(withStatus: status) ? $0 : nil } }

    /// Whether the grant is not one of the configuration, which nobody could make again.
    private var needsPerson: Bool {
        if case .request = grant { true } else { grantType.needsPerson }
    }

    private var domain: ErrorDomain {
        .token(TokenRequestBody.grantType(of: grant, otherwise: grantType))
    }

    private var isRefresh: Bool {
        switch grant {
        case .refresh: true
        case .original, .onBehalf, .authorizationCode, .deviceCode, .request: false
        }
    }

    /// Whether a body is there that no token endpoint would send: a page of a proxy or a firewall.
    private var isText: Bool {
        switch body {
        case .notJSON: true
        case .empty, .object, .otherJSON: false
        }
    }

    /// Whether an answer says more than its status.
    private var hasWords: Bool { isText || body[.error] != nil }

    private func failure(_ kind: TokenFailure.Kind) -> TokenFailure {
        var failure = TokenFailure(
            kind, .init(code, status: status), detail: detail,
            retryAfter: kind == .transient ? retryAfter : nil)
        failure.errorDescription = words
        failure.errorURI = page
        if code != nil { failure.domain = domain }
        return failure
    }
}
