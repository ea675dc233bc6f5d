// SPDX-License-Identifier: Apache-2.0

import Crypto
import HTTPTypes

/// A request to the token endpoint (RFC 6749 §4.1.3, §4.4.2, §6).
struct TokenRequest {
    let grant: Grant
    let configuration: ClientConfiguration

    /// The grant as the wire names it.
    var grantType: GrantType {
        switch grant {
        case .original: configuration.grantType
        case .refresh: .refreshToken
        case .authorizationCode: .authorizationCode
        case .deviceCode: .deviceCode
        }
    }

    /// The request on the wire; `secret` is nil for a public client, `isFormEncoded` is about HTTP Basic.
    func providerRequest(to url: HTTPURL, secret: Secret?, isFormEncoded: Bool) -> ProviderRequest {
        var request = ProviderRequest(method: .post, url: url, timeLimit: configuration.tokenTimeLimit)
        request.fields.append(.contentType, FormBody.contentType)
        request.fields.append(.accept, "application/json")

        var body = FormBody()
        appendGrant(to: &body)
        switch configuration.authentication {
        case .none:
            body.append(.clientID, configuration.clientID)
        case .post:
            body.append(.clientID, configuration.clientID)
            secret?.withPlaintext { body.append(.clientSecret, $0) }
        case .basic:
            let credentials = BasicCredentials.fieldValue(
                clientID: configuration.clientID, secret: secret ?? Secret(""), isFormEncoded: isFormEncoded)
            request.fields.append(.authorization, credentials)
        }
        for parameter in configuration.tokenParameters { body.append(name: parameter.name, parameter.value) }
        request.body = body.bytes

        for header in configuration.tokenHeaders {
            guard let name = HTTPFields.Name(header.name) else { continue }
            request.fields[name] = header.value
        }
        return request
    }

    private func appendGrant(to body: inout FormBody) {
        body.append(.grantType, grantType.rawValue)
        switch grant {
        case .original:
            appendScope(to: &body)
        case .refresh(let token):
            token.withPlaintext { body.append(.refreshToken, $0) }
            // A session begun by a login was granted what that login asked for: asking again could only lose some.
            if configuration.grantType == .refreshToken { appendScope(to: &body) }
        case .authorizationCode(let login):
            login.code.withPlaintext { body.append(.code, $0) }
            body.append(.redirectURI, login.redirectURI)
            login.verifier.withPlaintext { body.append(.codeVerifier, $0) }
        case .deviceCode(let code):
            code.withPlaintext { body.append(.deviceCode, $0) }
        }
        for audience in configuration.audience { body.append(.audience, audience) }
        for resource in configuration.resource { body.append(.resource, resource) }
    }

    private func appendScope(to body: inout FormBody) {
        guard !configuration.scope.isEmpty else { return }
        body.append(.scope, configuration.scope.joined(separator: " "))
    }
}
