// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// A request to the token endpoint (RFC 6749 §4.1.3, §4.4.2, §6).
struct TokenRequest {
    let grant: Grant
    let configuration: ClientConfiguration
    /// What a grant made from configuration is proved with: a password, an assertion, a subject token.
    var proof: Secret?

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
            appendProof(to: &body)
            appendScope(to: &body)
        case .refresh(let token):
            token.withPlaintext { body.append(.refreshToken, $0) }
            // A session begun by a login was granted what that login asked for: asking again could only lose some.
            if configuration.grantType == .refreshToken || configuration.narrowsScope {
                appendScope(to: &body)
            }
        case .authorizationCode(let login):
            login.code.withPlaintext { body.append(.code, $0) }
            body.append(.redirectURI, login.redirectURI)
            login.verifier.withPlaintext { body.append(.codeVerifier, $0) }
        case .deviceCode(let code, let verifier):
            code.withPlaintext { body.append(.deviceCode, $0) }
            verifier.withPlaintext { body.append(.codeVerifier, $0) }
        }
        for audience in configuration.audience { body.append(.audience, audience) }
        for resource in configuration.resource { body.append(.resource, resource) }
    }

    private func appendProof(to body: inout FormBody) {
        func append(_ parameter: TokenParameter) { proof?.withPlaintext { body.append(parameter, $0) } }
        switch configuration.grantType {
        case .password:
            body.append(.username, configuration.username ?? "")
            append(.password)
        case .jwtBearer:
            append(.assertion)
        case .tokenExchange:
            append(.subjectToken)
            configuration.subjectTokenType.map { body.append(.subjectTokenType, $0) }
            configuration.requestedTokenType.map { body.append(.requestedTokenType, $0) }
        default:
            break
        }
    }

    private func appendScope(to body: inout FormBody) {
        guard !configuration.scope.isEmpty else { return }
        body.append(.scope, configuration.scope.joined(separator: " "))
    }
}
