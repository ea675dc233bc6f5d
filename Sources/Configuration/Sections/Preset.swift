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

    /// The issuer of a provider that has one for everybody.
    var issuer: String? {
        switch self {
        case .google: "https://accounts.google.com"
        case .keycloak, .entra, .okta, .auth0: nil
        }
    }

    /// The issuer as the provider spells it, where people leave a part of it out.
    func spelled(_ issuer: String) -> String {
        guard let url = HTTPURL(issuer), url.query == nil else { return issuer }
        let segments = url.path.split(separator: "/")
        switch self {
        case .entra: return segments.count == 1 ? "\(url.origin)/\(segments[0])/v2.0" : issuer
        case .auth0: return segments.isEmpty ? "\(url.origin)/" : issuer
        case .google, .keycloak, .okta: return issuer
        }
    }

    /// What a login asks for, or no refresh token comes.
    var loginScope: [String] {
        switch self {
        case .google: []
        case .keycloak, .entra, .okta, .auth0: ["offline_access"]
        }
    }

    /// What else an authorization request says.
    var authorizationParameters: [NamedValue] {
        switch self {
        // Without the second no refresh token comes with a second login.
        case .google: [NamedValue("access_type", "offline"), NamedValue("prompt", "consent")]
        case .keycloak, .entra, .okta, .auth0: []
        }
    }

    /// How the token endpoint reads HTTP Basic, where that is known.
    var basicEncoding: BasicEncoding? {
        switch self {
        case .keycloak: .form
        case .entra: .raw
        case .google, .okta, .auth0: nil
        }
    }

    /// What is probably wrong with a client that was read whole, each with the key it is about.
    func objections(to client: ClientConfiguration, hasFixedPort: Bool) -> [(key: IdentityKey, text: String)]
    {
        let segments = client.issuer.flatMap(HTTPURL.init)?.path.split(separator: "/") ?? []
        switch self {
        case .google, .okta:
            return []
        case .keycloak:
            guard client.issuer != nil, !segments.contains("realms") else { return [] }
            return [(.issuer, "a realm of Keycloak is at …/realms/NAME")]
        case .entra:
            guard let tenant = segments.first, !tenant.isTenantID else { return [] }
            return [
                (.issuer, "Entra's own issuer has the tenant's id, not '\(tenant)': it would not be the same")
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
}

extension ClientConfiguration {
    /// Sets what a preset knows and the file does not say; call it when everything else was read.
    mutating func apply(_ preset: Preset, _ section: Section<IdentityKey>) {
        if !section.has(.basicEncoding), let encoding = preset.basicEncoding { basicEncoding = encoding }
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
