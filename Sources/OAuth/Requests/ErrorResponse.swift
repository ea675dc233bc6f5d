// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdJSON

/// A response of the token endpoint, or of one that answers like it, sorted by what its error means (RFC 6749 §5.2).
///
/// A known `error` code decides before the status does; of a 5xx only one that says the server is out of order.
struct ErrorResponse {
    let response: TransportResponse
    /// The body of ``response``, parsed.
    let body: ResponseBody
    /// The grant that the request used.
    let grant: Grant
    /// The configured grant type.
    let grantType: GrantType
    /// The civil time, for a `Retry-After` that is a date.
    let wall: WallTime

    /// The failure; nil for a 200 without `error`.
    var failure: TokenFailure? {
        if let code, let kind = kind(of: code) { return failure(kind) }
        switch response.status {
        case 200:
            return body[.error] == nil ? nil : failure(.transient)
        case 400, 401:
            return failure(isRefresh && !isText ? .doubtful : .transient)
        case 403:
            return failure(
                code == .accessDenied || !(isText || body[.error] != nil) ? .misconfigured : .transient)
        case 404:
            return failure(.misconfigured)
        default:
            return failure(.transient)
        }
    }

    /// The meaning of a code whatever the status; nil where the status decides.
    private func kind(of code: ErrorCode) -> TokenFailure.Kind? {
        switch code {
        case .invalidGrant, .interactionRequired, .consentRequired, .loginRequired, .badRefreshToken,
            .badVerificationCode, .incorrectDeviceCode:
            // Nobody can log in to a grant made from configuration; its refresh token can be final, though.
            needsPerson || isRefresh ? .final : .misconfigured
        case .invalidClient, .unauthorizedClient, .invalidScope, .invalidTarget, .unsupportedGrantType,
            .incorrectClientCredentials, .deviceFlowDisabled, .redirectURIMismatch, .invalidDPoPProof:
            .misconfigured
        default:
            // `invalid_request` has none: some servers say it of a dead refresh token.
            code.isTransient ? .transient : nil
        }
    }

    /// The `error`, unless it is that of a broken gateway, which is no verdict on a grant or a client.
    private var code: ErrorCode? { body.code.flatMap { $0.counts(withStatus: response.status) ? $0 : nil } }

    /// True if only a person, or a program, can make the grant again.
    private var needsPerson: Bool {
        if case .request = grant { true } else { grantType.needsPerson }
    }

    private var isRefresh: Bool {
        if case .refresh = grant { true } else { false }
    }

    /// True for a body that no token endpoint would send: a page of a proxy or a firewall.
    private var isText: Bool {
        if case .notJSON = body { true } else { false }
    }

    private func failure(_ kind: TokenFailure.Kind) -> TokenFailure {
        var failure = TokenFailure(
            kind, .init(code, status: response.status), detail: response.failureDetail,
            retryAfter: kind == .transient ? RetryAfter.delay(in: response.fields, wall: wall) : nil)
        failure.providerDescription = response.errorDescription
        failure.errorURI = response.errorPage
        if code != nil {
            failure.domain = .token(TokenRequestBody.grantType(of: grant, otherwise: grantType))
        }
        return failure
    }
}
