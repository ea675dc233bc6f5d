// SPDX-License-Identifier: Apache-2.0

/// Advice after a refusal.
extension AuthorizationServer {
    /// The failure with the configuration keys that may have caused it at the end of its detail.
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

    /// The configuration keys of the client's authentication.
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

    /// The configuration keys of the grant.
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
