// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// Token revocation and logout.
extension AuthorizationServer {
    /// Returns the endpoint's URL, or nil if neither the configuration nor the metadata has one.
    ///
    /// - Throws: ``TokenFailure`` if the metadata cannot be fetched.
    func urlIfAny(of endpoint: Endpoint) async throws(TokenFailure) -> HTTPURL? {
        let publishes = configuration.issuer != nil || configuration.discoveryURL != nil
        guard publishes || configuration.endpoints[endpoint] != nil else { return nil }
        do throws(TokenFailure) {
            return try await url(of: endpoint)
        } catch {
            if error.reason == .noEndpoint(endpoint) { return nil }
            throw error
        }
    }

    /// Revokes a token (RFC 7009).
    ///
    /// Every 2xx response is success; so a token that the server does not know counts as revoked (§2.2).
    ///
    /// - Throws: ``TokenFailure`` if the server does not answer or refuses.
    func revoke(_ token: Secret, _ hint: TokenHint) async throws(TokenFailure) {
        var body = FormBody()
        token.withPlaintext { body.append(name: LogoutParameter.token.rawValue, $0) }
        body.append(name: LogoutParameter.tokenTypeHint.rawValue, hint.rawValue)
        body.append(configuration.revocationParameters)
        let response = try await post(body, to: .revocation)
        guard !(200..<300 ~= response.status) else { return }
        let code = ResponseBody(response.body).code
        throw advised(
            TokenFailure(
                response.isTemporary ? .transient : .misconfigured, .init(code, status: response.status),
                detail: response.failureDetail
            ).refused(in: .revocation, response))
    }

    /// Asks the server to end the user's session (OpenID Connect RP-Initiated Logout §2).
    ///
    /// - Throws: ``TokenFailure`` if the server does not answer, or answers with an error; a redirect is
    ///   success.
    func endSession(_ request: EndSessionRequest) async throws(TokenFailure) {
        var message = TransferRequest(
            method: .post, url: request.endpoint, timeLimit: configuration.tokenTimeLimit)
        message.fields.append(.contentType, FormBody.contentType)
        var body = FormBody()
        body.append(request.parameters)
        message.body = body.bytes
        let response = try await send(message)
        guard 200..<400 ~= response.status else {
            throw TokenFailure(
                response.isTemporary ? .transient : .misconfigured, .status(response.status),
                detail: response.failureDetail)
        }
    }
}
