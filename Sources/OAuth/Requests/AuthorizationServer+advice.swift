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
        case .refused(.unauthorizedClient): return clientKeys + [name(of: .grantType)]
        case .refused(.invalidScope): return [name(of: .scope)]
        case .refused(.invalidTarget): return [name(of: .resource), name(of: .audience)]
        case .refused(.unsupportedGrantType): return [name(of: .grantType)]
        case .refused(.invalidDPoPProof):
            return [name(of: .proofs), name(of: .signingAlgorithm), "this machine's clock"]
        case .refused(.invalidGrant):
            guard case .original? = grant else { return [] }
            return grantKeys
        case .status(401), .status(403):
            return clientKeys
        case .emptyResponse, .noAccessToken, .status(404), .status(405):
            // One that the provider's metadata names is not wrong.
            return configuration.endpoints[.token] == nil ? [] : [name(of: .tokenEndpoint)]
        default:
            return []
        }
    }

    private func name(of setting: Setting) -> String { configuration.name(of: setting) }

    /// The configuration keys of the client's authentication.
    private var clientKeys: [String] {
        let key =
            switch configuration.authentication {
            case .none: name(of: .authentication)
            case .basic, .post, .clientSecretJWT:
                credentials.registeredSecret == nil
                    ? credentials.key(of: .clientSecret) : "the registration"
            case .privateKeyJWT:
                credentials.source.has(.assertion) && configuration.grantType != .jwtBearer
                    ? credentials.key(of: .assertion) : credentials.key(of: .privateKey)
            case .tlsClientAuth, .selfSignedTLSClientAuth: name(of: .certificate)
            }
        return [name(of: .clientID), key]
    }

    /// The configuration keys of the grant.
    private var grantKeys: [String] {
        switch configuration.grantType {
        case .password: [name(of: .username), credentials.key(of: .password)]
        case .tokenExchange: [credentials.key(of: .subjectToken)]
        case .jwtBearer:
            [credentials.key(of: credentials.source.has(.assertion) ? .assertion : .privateKey)]
        default: []
        }
    }
}
