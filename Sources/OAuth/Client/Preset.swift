// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// A provider whose ways are known: what a client of it needs beside its names.
///
/// The one table of providers.
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

    /// The issuer of a provider that has one for everybody.
    package var issuer: String? {
        switch self {
        case .google: "https://accounts.google.com"
        case .keycloak, .entra, .okta, .auth0, .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe:
            nil
        }
    }

    /// The issuer as the provider spells it, where people leave a part of it out.
    package func spelled(_ issuer: String) -> String {
        guard let url = HTTPURL(issuer), url.query == nil else { return issuer }
        let segments = url.path.split(separator: "/")
        switch self {
        case .entra, .entraWorkload: return segments.count == 1 ? "\(url.origin)/\(segments[0])/v2.0" : issuer
        case .auth0: return segments.isEmpty ? "\(url.origin)/" : issuer
        case .google, .keycloak, .okta, .keycloakWorkload, .googleWorkload, .spiffe: return issuer
        }
    }

    /// What a login asks for, or no refresh token comes.
    package var loginScope: [String] {
        switch self {
        case .google, .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe: []
        case .keycloak, .entra, .okta, .auth0: ["offline_access"]
        }
    }

    /// What else an authorization request says.
    package var authorizationParameters: [NamedValue] {
        switch self {
        // Without the second no refresh token comes with a second login.
        case .google: [NamedValue("access_type", "offline"), NamedValue("prompt", "consent")]
        case .keycloak, .entra, .okta, .auth0, .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe:
            []
        }
    }

    /// How the token endpoint reads HTTP Basic, where that is known.
    package var basicEncoding: BasicEncoding? {
        switch self {
        case .keycloak, .keycloakWorkload: .form
        case .entra, .entraWorkload: .raw
        case .google, .okta, .auth0, .googleWorkload, .spiffe: nil
        }
    }
}

/// Presets for workloads: who runs them gives them a token, and that is all the proof there is.
extension Preset {
    /// Whether the platform's token takes the place of a secret or a login.
    package var isForWorkloads: Bool {
        switch self {
        case .google, .keycloak, .entra, .okta, .auth0: false
        case .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe: true
        }
    }

    /// The grant where the file names none.
    package var grantType: GrantType {
        guard isForWorkloads else { return .authorizationCode }
        return exchangesAssertion ? .tokenExchange : .clientCredentials
    }

    /// Whether the platform's token is exchanged (RFC 8693), and proves no client.
    package var exchangesAssertion: Bool { self == .googleWorkload }

    /// The token endpoint of a provider that has no discovery.
    package var tokenEndpoint: HTTPURL? {
        exchangesAssertion ? HTTPURL("https://sts.googleapis.com/v1/token") : nil
    }

    /// What is asked for where the file does not say.
    package var workloadScope: [String] {
        exchangesAssertion ? ["https://www.googleapis.com/auth/cloud-platform"] : []
    }
}

extension ClientConfiguration {
    /// A client of a provider whose ways are known.
    ///
    /// - Parameters:
    ///   - preset: which one.
    ///   - name: keys the store.
    ///   - clientID: as registered there.
    ///   - issuer: of the realm, the tenant or the authorization server; needed but for ``Preset/google``. Entra's
    ///     `/v2.0` and Auth0's final `/` may be left out.
    ///   - scope: beside what the preset needs, or no refresh token comes.
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

    /// Adds what a preset knows to what has been said already.
    package mutating func apply(_ preset: Preset) {
        if preset == .spiffe { assertion.isVerifiableIdentityDocument = true }
        needsNoClient = preset == .googleWorkload
        if grantType == .authorizationCode || grantType == .deviceCode {
            // A scope of ours must not be the only one, or no id token came.
            if scope.isEmpty, !preset.loginScope.isEmpty { scope = [Scope.openID] }
            scope += preset.loginScope.filter { !scope.contains($0) }
        }
        for parameter in preset.authorizationParameters
        where !authorizationParameters.contains(where: { $0.name == parameter.name }) {
            authorizationParameters.append(parameter)
        }
    }
}
