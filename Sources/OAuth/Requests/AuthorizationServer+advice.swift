// SPDX-License-Identifier: Apache-2.0

/// What to look at after a refusal.
extension AuthorizationServer {
    /// A refusal with the keys of the configuration that it may be about.
    func advised(_ failure: TokenFailure, after grant: Grant? = nil) -> TokenFailure {
        let keys = suspects(of: failure, grant)
        guard !keys.isEmpty else { return failure }
        var advised = failure
        let last = keys.count > 1 ? " and \(keys[keys.count - 1])" : ""
        advised.detail += "; look at \(keys.prefix(max(1, keys.count - 1)).joined(separator: ", "))\(last)"
        return advised
    }

    private func suspects(of failure: TokenFailure, _ grant: Grant?) -> [String] {
        switch failure.reason {
        case .refused(.invalidClient): return clientKeys
        case .refused(.unauthorizedClient): return clientKeys + ["grant_type"]
        case .refused(.invalidScope): return ["scope"]
        case .refused(.invalidTarget): return ["resource", "audience"]
        case .refused(.unsupportedGrantType): return ["grant_type"]
        case .refused(.invalidDPoPProof): return ["dpop", "signing_alg", "this machine's clock"]
        case .refused(.invalidGrant):
            guard case .original? = grant else { return [] }
            return grantKeys
        case .status(401), .status(403):
            return clientKeys
        default:
            return []
        }
    }

    /// What the client proves itself with.
    private var clientKeys: [String] {
        let key =
            switch configuration.authentication {
            case .none: "token_endpoint_auth_method"
            case .basic, .post, .clientSecretJWT:
                credentials.registeredSecret == nil
                    ? credentials.source.key(of: .clientSecret) : "the registration"
            case .privateKeyJWT:
                credentials.source.has(.assertion) && configuration.grantType != .jwtBearer
                    ? credentials.source.key(of: .assertion) : credentials.source.key(of: .privateKey)
            case .tlsClientAuth, .selfSignedTLSClientAuth: "client_certificate_file"
            }
        return ["client_id", key]
    }

    /// What a grant made from configuration is proved with.
    private var grantKeys: [String] {
        switch configuration.grantType {
        case .password: ["username", credentials.source.key(of: .password)]
        case .tokenExchange: [credentials.source.key(of: .subjectToken)]
        case .jwtBearer:
            [credentials.source.key(of: credentials.source.has(.assertion) ? .assertion : .privateKey)]
        default: []
        }
    }
}
