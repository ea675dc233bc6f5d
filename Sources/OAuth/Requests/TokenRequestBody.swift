// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// The form that is posted to the token endpoint (RFC 6749 §4.1.3, §4.4.2, §6).
struct TokenRequestBody {
    let grant: Grant
    let configuration: ClientConfiguration
    /// The password, assertion or subject token of a configured grant.
    var proof: Secret?
    /// The parameters of this request alone.
    var additions = TokenAdditions()

    /// The `grant_type` of a grant, where `original` is the configured one.
    static func grantType(of grant: Grant, otherwise original: GrantType) -> GrantType {
        switch grant {
        case .original, .onBehalf: original
        case .refresh: .refreshToken
        case .authorizationCode: .authorizationCode
        case .deviceCode: .deviceCode
        case .request(let request): request.grantType
        }
    }

    /// The parameters without the client authentication.
    var form: FormBody {
        var body = FormBody()
        appendGrant(to: &body)
        body.append(configuration.tokenParameters + additions.parameters)
        return body
    }

    private func appendGrant(to body: inout FormBody) {
        let grantType = Self.grantType(of: grant, otherwise: configuration.grantType)
        body.append(.grantType, grantType.rawValue)
        switch grant {
        case .original, .onBehalf:
            appendProof(to: &body)
            append(configuration.scope, to: &body)
        case .refresh(let token):
            token.withPlaintext { body.append(.refreshToken, $0) }
            // Without a scope the server grants that of the login; naming one could only lose some of it.
            if let scope = additions.scope {
                append(scope, to: &body)
            } else if configuration.grantType == .refreshToken || configuration.namesScope {
                append(configuration.scope, to: &body)
            }
        case .authorizationCode(let login):
            login.code.withPlaintext { body.append(.code, $0) }
            body.append(.redirectURI, login.redirectURI)
            login.verifier.withPlaintext { body.append(.codeVerifier, $0) }
        case .deviceCode(let code, let verifier):
            code.withPlaintext { body.append(.deviceCode, $0) }
            verifier.withPlaintext { body.append(.codeVerifier, $0) }
        case .request(let request):
            append(request.scope, to: &body)
            body.append(request.parameters)
            for (name, value) in request.secrets { value.withPlaintext { body.append(name: name, $0) } }
            // A program that composes the request names its audience and resource too.
            return
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

    private func append(_ scope: [String], to body: inout FormBody) {
        guard !scope.isEmpty else { return }
        body.append(.scope, scope.joined(separator: " "))
    }
}
