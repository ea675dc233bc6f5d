// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// A known provider, and the settings that its clients need.
public enum Preset: String, CaseIterable, Sendable {
    /// Google.
    case google
    /// A realm of Keycloak.
    case keycloak
    /// A tenant of Microsoft Entra.
    case entra
    /// An authorization server of Okta.
    case okta
    /// A tenant of Auth0.
    case auth0
    /// Keycloak, for a workload with a service account's token.
    case keycloakWorkload = "keycloak-k8s"
    /// Microsoft Entra, for a workload with a token of its platform.
    case entraWorkload = "entra-wif"
    /// Google, for a workload with a token of its platform.
    case googleWorkload = "gcp-wif"
    /// Any server that takes JWT-SVIDs.
    case spiffe

    /// The issuer, if the provider has only one.
    package var issuer: String? {
        self == .google ? "https://accounts.google.com" : nil
    }

    /// The issuer as the provider spells it, with the part that people leave out.
    package func spelled(_ issuer: String) -> String {
        guard let url = HTTPURL(issuer), url.query == nil else { return issuer }
        let segments = url.path.split(separator: "/")
        switch self {
        case .entra, .entraWorkload: return segments.count == 1 ? "\(url.origin)/\(segments[0])/v2.0" : issuer
        case .auth0: return segments.isEmpty ? "\(url.origin)/" : issuer
        case .google, .keycloak, .okta, .keycloakWorkload, .googleWorkload, .spiffe: return issuer
        }
    }

    /// The scope without which a login brings no refresh token.
    package var loginScope: [String] {
        switch self {
        case .google, .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe: []
        case .keycloak, .entra, .okta, .auth0: ["offline_access"]
        }
    }

    /// Further parameters of authorization requests.
    package var authorizationParameters: [NamedValue] {
        // Without `prompt` a second login brings no refresh token.
        self == .google ? [NamedValue("access_type", "offline"), NamedValue("prompt", "consent")] : []
    }

    /// The encoding of HTTP Basic that the token endpoint takes; nil if it is not known.
    package var basicEncoding: BasicEncoding? {
        switch self {
        case .keycloak, .keycloakWorkload: .form
        case .entra, .entraWorkload: .raw
        case .google, .okta, .auth0, .googleWorkload, .spiffe: nil
        }
    }
}

/// Presets for workloads, which authenticate with a token of their platform.
extension Preset {
    /// True if a token of the platform takes the place of a secret or a login.
    package var isForWorkloads: Bool {
        switch self {
        case .google, .keycloak, .entra, .okta, .auth0: false
        case .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe: true
        }
    }

    /// The grant if the configuration names none.
    package var grantType: GrantType {
        guard isForWorkloads else { return .authorizationCode }
        return exchangesAssertion ? .tokenExchange : .clientCredentials
    }

    /// True if the platform's token is exchanged (RFC 8693) instead of authenticating the client.
    package var exchangesAssertion: Bool { self == .googleWorkload }

    /// The token endpoint of a provider without discovery.
    package var tokenEndpoint: HTTPURL? {
        exchangesAssertion ? HTTPURL("https://sts.googleapis.com/v1/token") : nil
    }

    /// The scope if the configuration names none.
    package var workloadScope: [String] {
        exchangesAssertion ? ["https://www.googleapis.com/auth/cloud-platform"] : []
    }
}

extension ClientConfiguration {
    /// A client of a known provider.
    ///
    /// - Parameters:
    ///   - preset: the provider.
    ///   - name: the identity's name, which keys the store.
    ///   - clientID: as registered there.
    ///   - issuer: that of the realm, tenant or authorization server; only ``Preset/google`` needs none. Entra's `/v2.0`
    ///     and Auth0's final `/` may be left out.
    ///   - scope: beside the scope tokens that the preset adds.
    public init(
        _ preset: Preset, name: String, clientID: String, issuer: String? = nil, scope: [String] = []
    ) {
        self.init(name: name, clientID: clientID, grantType: preset.grantType)
        self.issuer = issuer.map(preset.spelled) ?? preset.issuer
        if self.issuer == nil { endpoints[.token] = preset.tokenEndpoint }
        self.scope = scope.isEmpty ? preset.workloadScope : scope
        if let encoding = preset.basicEncoding { basicEncoding = encoding }
        if preset.exchangesAssertion {
            let prefix = "urn:ietf:params:oauth:token-type:"
            subjectTokenType = prefix + "jwt"
            requestedTokenType = prefix + "access_token"
        } else if preset.isForWorkloads {
            authentication = .privateKeyJWT
        }
        apply(preset)
    }

    /// Adds the preset's scope and parameters to the present ones.
    package mutating func apply(_ preset: Preset) {
        if preset == .spiffe { assertion.isVerifiableIdentityDocument = true }
        needsNoClient = preset == .googleWorkload
        if grantType == .authorizationCode || grantType == .deviceCode {
            // Without `openid` no ID token would come.
            if scope.isEmpty, !preset.loginScope.isEmpty { scope = [Scope.openID] }
            scope += preset.loginScope.filter { !scope.contains($0) }
        }
        for parameter in preset.authorizationParameters
        where !authorizationParameters.contains(where: { $0.name == parameter.name }) {
            authorizationParameters.append(parameter)
        }
    }
}
