// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON

/// The requests that logins begin with.
extension AuthorizationServer {
    /// An authorization request for a browser, pushed if that is configured or required.
    func authorizationRequest(
        redirectURI: String, adding additions: LoginAdditions, marks: LoginMarks = LoginMarks()
    ) async throws(TokenFailure) -> AuthorizationRequest {
        try configuration.requireClient()
        guard AuthorizationRequest.canReturn(to: redirectURI) else {
            throw TokenFailure(
                .misconfigured, .badRedirectURI,
                detail:
                    "the redirect URI '\(redirectURI.onOneLine.prefix(200))' is no absolute URI without a fragment"
            )
        }
        try marks.check()
        let asking = try additions.asked(of: configuration, in: \.authorizationParameters)
        // Fresh metadata: a person waits anyway, and the server may announce `iss` by now.
        let service = try await metadataIfPublished(newerThan: .seconds(1))
        let endpoint = try await url(of: .authorization)
        try configuration.permit(endpoint)
        let announcesIssuer = service?.document[MetadataMember.responsesHaveIssuer.rawValue]?.bool ?? false
        var request = AuthorizationRequest(
            configuration: asking, endpoint: endpoint, redirectURI: redirectURI,
            issuer: configuration.issuer ?? service?.issuer,
            requiresIssuer: announcesIssuer || configuration.profile == .fapi2,
            proofKey: try await proofKey(nil), marks: marks)
        request.additions = additions.asking(by: asking)
        request.wantsPush = service?.wantsPushedRequests ?? false
        return try await pushesRequests() ? push(request) : request
    }

    /// Makes a device authorization request (RFC 8628 §3.1).
    func authorizeDevice(adding additions: LoginAdditions) async throws(TokenFailure) -> DeviceAuthorization {
        let asking = try additions.asked(of: configuration, in: \.deviceParameters)
        var form = FormBody()
        form.append(.scope, asking.loginScope.joined(separator: " "))
        for audience in configuration.audience { form.append(.audience, audience) }
        for resource in configuration.loginResource { form.append(.resource, resource) }
        let verifier = SecureRandom.word()
        for (name, value) in PKCE.parameters(for: verifier) { form.append(name: name.rawValue, value) }
        form.append(asking.deviceParameters)
        let sentAt = clock.now
        let response = try await post(form, to: .deviceAuthorization)
        if var device = DeviceAuthorization(response, verifier: Secret(verifier), sentAt: sentAt) {
            device.binding = configuration.binding
            device.additions = LoginAdditions(scope: additions.scope).asking(for: asking.loginScope)
            return device
        }
        let error = ErrorResponse(
            response: response, body: ResponseBody(response.body), grant: .original, grantType: .deviceCode,
            wall: clock.wallNow)
        throw advised(
            error.failure?.refused(in: .deviceAuthorization, response)
                ?? TokenFailure(
                    .transient, .badResponse,
                    detail: "the answer of \(response.place) has no code for a person"))
    }
}
