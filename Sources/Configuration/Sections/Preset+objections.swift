// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import OAuth

/// Mistakes that are common in configurations for known providers.
extension Preset {
    /// Probable mistakes in a client that was read completely, each with its key.
    func objections(to client: ClientConfiguration, hasFixedPort: Bool) -> [(key: IdentityKey, text: String)]
    {
        let segments = client.issuer.flatMap(HTTPURL.init)?.path.split(separator: "/") ?? []
        switch self {
        case .google, .okta, .spiffe:
            return []
        case .keycloak, .keycloakWorkload:
            var objections: [(key: IdentityKey, text: String)] = []
            if client.issuer != nil, !segments.contains("realms") {
                objections.append((.issuer, "a realm of Keycloak is at …/realms/NAME"))
            }
            if !client.audience.isEmpty, client.grantType != .tokenExchange {
                objections.append((.audience, Self.keycloakAudience))
            }
            return objections
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
            guard !client.audience.contains(where: { $0.hasPrefix("//iam.googleapis.com/projects/") })
            else { return [] }
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

    /// The objection to an audience that is asked for by another grant than a token exchange.
    private static let keycloakAudience =
        "Keycloak takes no audience but for token_exchange: an audience mapper of the client, or of a client scope, puts it into the token (docs/providers.md, Keycloak)"

    /// The probable mistake in a route's own `audience`; nil if there is none.
    func objectionToRouteAudience(of client: ClientConfiguration) -> String? {
        switch self {
        case .keycloak, .keycloakWorkload: client.grantType == .tokenExchange ? nil : Self.keycloakAudience
        case .google, .okta, .spiffe, .entra, .entraWorkload, .googleWorkload, .auth0: nil
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
    /// Sets what the preset knows and the file does not say; call it after everything else was read.
    mutating func apply(_ preset: Preset, _ section: Section<IdentityKey>) {
        if !section.has(.basicEncoding), let encoding = preset.basicEncoding { basicEncoding = encoding }
        if !section.has(.scope) { scope = preset.workloadScope }
        apply(preset)
        let redirect = section.value(.redirectURI, .redirectURI)?.value
        let hasFixedPort = redirect.map { $0.port != 0 } ?? false
        for objection in preset.objections(to: self, hasFixedPort: hasFixedPort) {
            section.warn(objection.key, objection.text)
        }
    }
}

extension Substring {
    /// True for a GUID, which identifies a tenant of Entra.
    fileprivate var isTenantID: Bool {
        split(separator: "-", omittingEmptySubsequences: false).map(\.count) == [8, 4, 4, 4, 12]
            && allSatisfy { $0.isHexDigit || $0 == "-" }
    }
}

extension Section<IdentityKey> {
    /// Reports a missing token of the platform.
    func checkWorkload(_ preset: Preset?) {
        guard let preset, preset.isForWorkloads, !has(.assertionFile), !has(.subjectTokenFile) else { return }
        guard ![IdentityKey.assertionFile, .subjectTokenFile].contains(where: isInDoubt) else { return }
        require(
            .assertionFile, "is missing, and preset '\(preset.rawValue)' needs it: the token of the platform")
    }
}
