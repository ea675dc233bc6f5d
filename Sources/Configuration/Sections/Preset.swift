// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import OAuth

/// A provider whose ways are known (`preset`): what it sets where the file says nothing.
///
/// The one table of providers; docs/configuration.md shows it to people.
enum Preset: String, CaseIterable {
    case google
    case keycloak
    case entra
    case okta
    case auth0
    case keycloakWorkload = "keycloak-k8s"
    case entraWorkload = "entra-wif"
    case googleWorkload = "gcp-wif"
    case spiffe

    /// The issuer of a provider that has one for everybody.
    var issuer: String? {
        switch self {
        case .google: "https://accounts.google.com"
        case .keycloak, .entra, .okta, .auth0, .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe:
            nil
        }
    }

    /// The issuer as the provider spells it, where people leave a part of it out.
    func spelled(_ issuer: String) -> String {
        guard let url = HTTPURL(issuer), url.query == nil else { return issuer }
        let segments = url.path.split(separator: "/")
        switch self {
        case .entra, .entraWorkload: return segments.count == 1 ? "\(url.origin)/\(segments[0])/v2.0" : issuer
        case .auth0: return segments.isEmpty ? "\(url.origin)/" : issuer
        case .google, .keycloak, .okta, .keycloakWorkload, .googleWorkload, .spiffe: return issuer
        }
    }

    /// What a login asks for, or no refresh token comes.
    var loginScope: [String] {
        switch self {
        case .google, .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe: []
        case .keycloak, .entra, .okta, .auth0: ["offline_access"]
        }
    }

    /// What else an authorization request says.
    var authorizationParameters: [NamedValue] {
        switch self {
        // Without the second no refresh token comes with a second login.
        case .google: [NamedValue("access_type", "offline"), NamedValue("prompt", "consent")]
        case .keycloak, .entra, .okta, .auth0, .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe:
            []
        }
    }

    /// How the token endpoint reads HTTP Basic, where that is known.
    var basicEncoding: BasicEncoding? {
        switch self {
        case .keycloak, .keycloakWorkload: .form
        case .entra, .entraWorkload: .raw
        case .google, .okta, .auth0, .googleWorkload, .spiffe: nil
        }
    }

    /// What is probably wrong with a client that was read whole, each with the key it is about.
    func objections(to client: ClientConfiguration, hasFixedPort: Bool) -> [(key: IdentityKey, text: String)]
    {
        let segments = client.issuer.flatMap(HTTPURL.init)?.path.split(separator: "/") ?? []
        switch self {
        case .google, .okta, .spiffe:
            return []
        case .keycloak, .keycloakWorkload:
            guard client.issuer != nil, !segments.contains("realms") else { return [] }
            return [(.issuer, "a realm of Keycloak is at …/realms/NAME")]
        case .entra:
            return objectionsToTenant(segments)
        case .entraWorkload:
            guard client.grantType == .clientCredentials,
                !client.scope.contains(where: { $0.hasSuffix("/.default") })
            else { return objectionsToTenant(segments) }
            return objectionsToTenant(segments) + [
                (.preset, "Entra gives a workload a token for a scope that ends with /.default alone")
            ]
        case .googleWorkload:
            guard !client.audience.contains(where: { $0.hasPrefix("//iam.googleapis.com/projects/") }) else {
                return []
            }
            return [
                (
                    .preset,
                    "Google wants the provider as audience: //iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/NAME"
                )
            ]
        case .auth0:
            var objections: [(key: IdentityKey, text: String)] = []
            if client.audience.isEmpty {
                objections.append(
                    (.preset, "without an audience Auth0's access tokens are for its userinfo alone"))
            }
            if client.grantType == .authorizationCode, !hasFixedPort {
                objections.append(
                    (
                        .preset,
                        "Auth0 compares a redirect's port: give redirect_uri a fixed one and register it"
                    ))
            }
            return objections
        }
    }

    private func objectionsToTenant(_ path: [Substring]) -> [(key: IdentityKey, text: String)] {
        guard let tenant = path.first, !tenant.isTenantID else { return [] }
        return [
            (.issuer, "Entra's own issuer has the tenant's id, not '\(tenant)': it would not be the same")
        ]
    }
}

extension ClientConfiguration {
    /// Sets what a preset knows and the file does not say; call it when everything else was read.
    mutating func apply(_ preset: Preset, _ section: Section<IdentityKey>) {
        if !section.has(.basicEncoding), let encoding = preset.basicEncoding { basicEncoding = encoding }
        if !section.has(.scope) { scope = preset.workloadScope }
        if preset == .spiffe { assertion.isVerifiableIdentityDocument = true }
        needsNoClient = preset == .googleWorkload
        if grantType == .authorizationCode || grantType == .deviceCode {
            // A scope of ours must not be the only one, or no id token came.
            if scope.isEmpty, !preset.loginScope.isEmpty { scope = ["openid"] }
            scope += preset.loginScope.filter { !scope.contains($0) }
        }
        for parameter in preset.authorizationParameters
        where !authorizationParameters.contains(where: { $0.name == parameter.name }) {
            authorizationParameters.append(parameter)
        }
        let redirect = section.value(.redirectURI, .redirectURI)?.value
        let hasFixedPort = redirect.map { $0.port != 0 } ?? false
        for objection in preset.objections(to: self, hasFixedPort: hasFixedPort) {
            section.warn(objection.key, objection.text)
        }
    }
}

extension Substring {
    /// A GUID, as Entra's tenants have.
    fileprivate var isTenantID: Bool {
        split(separator: "-", omittingEmptySubsequences: false).map(\.count) == [8, 4, 4, 4, 12]
            && allSatisfy { $0.isHexDigit || $0 == "-" }
    }
}
