// SPDX-License-Identifier: Apache-2.0

import Crypto

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

    /// The parameters, without the client's proof of itself.
    var body: FormBody {
        var body = FormBody()
        appendGrant(to: &body)
        for parameter in configuration.tokenParameters { body.append(name: parameter.name, parameter.value) }
        return body
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
