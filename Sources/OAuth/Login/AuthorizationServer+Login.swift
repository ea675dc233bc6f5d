// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages
import JSON

/// What a login asks the server for.
extension AuthorizationServer {
    /// A request for a browser to make.
    func authorizationRequest(redirectURI: String) async throws(TokenFailure) -> AuthorizationRequest {
        try configuration.requireClient()
        let endpoint = try await url(of: .authorization)
        try configuration.permit(endpoint)
        let service = try await metadataIfPublished()
        return AuthorizationRequest(
            configuration: configuration, endpoint: endpoint, redirectURI: redirectURI,
            issuer: configuration.issuer ?? service?.issuer,
            requiresIssuer: service?.document[MetadataMember.responsesHaveIssuer.rawValue]?.bool ?? false)
    }

    /// RFC 8628 §3.1.
    func authorizeDevice() async throws(TokenFailure) -> DeviceAuthorization {
        var form = FormBody()
        form.append(.scope, configuration.loginScope.joined(separator: " "))
        for audience in configuration.audience { form.append(.audience, audience) }
        for resource in configuration.loginResource { form.append(.resource, resource) }
        let verifier = SecureRandom.word()
        for (name, value) in PKCE.parameters(for: verifier) { form.append(name: name.rawValue, value) }
        for parameter in configuration.deviceParameters { form.append(name: parameter.name, parameter.value) }
        let sentAt = clock.now
        let response = try await post(form, to: .deviceAuthorization)
        if let device = DeviceAuthorization(response, verifier: Secret(verifier), sentAt: sentAt) {
            return device
        }
        let table = OutcomeTable(
            response, AnswerBody(response.body), grant: .original, grantType: .deviceCode,
            retryAfter: RetryAfter.delay(in: response.fields, wall: clock.wallNow))
        throw advised(
            table.failure
                ?? TokenFailure(
                    .transient, .badAnswer,
                    detail: "the answer of \(response.place) has no code for a person"))
    }
}
