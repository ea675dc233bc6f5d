// SPDX-License-Identifier: Apache-2.0

/// A setting that errors name; the raw values are keys of a configuration file.
enum Setting: String, CaseIterable {
    case acceptedTokenTypes = "accept_token_types"
    case allowsInsecureProvider = "allow_insecure_provider"
    case audience
    case authentication = "token_endpoint_auth_method"
    case certificate = "client_certificate_file"
    case clientID = "client_id"
    case discoveryURL = "discovery_url"
    case grantType = "grant_type"
    case issuer
    case proofs = "dpop"
    case resource
    case scope
    case signingAlgorithm = "signing_alg"
    case tokenEndpoint = "token_endpoint"
    case username

    /// The name for a program: a property of ``ClientConfiguration``, where it has one.
    var property: String {
        switch self {
        case .certificate: "the client certificate of the connection"
        case .signingAlgorithm: "assertion.algorithm"
        case .tokenEndpoint: "endpoints[.token]"
        default: "\(self)"
        }
    }
}

extension ClientConfiguration {
    /// The name of a setting for whoever reads an error.
    func name(of setting: Setting) -> String { isOfFile ? setting.rawValue : setting.property }

    /// The name of an endpoint's setting.
    func name(of endpoint: Endpoint) -> String {
        isOfFile ? endpoint.rawValue : "endpoints[.\(endpoint)]"
    }

    /// The name of a credential that its source does not know.
    func name(of credential: Credential) -> String {
        isOfFile ? credential.rawValue : credential.rawValue.replacing("_", with: " ")
    }
}
