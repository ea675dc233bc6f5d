// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import OAuth

/// Presets for workloads: who runs them puts a token into a file (`assertion_file`), and that is all the proof there is.
extension Preset {
    /// Whether the platform's token takes the place of a secret or a login.
    var isForWorkloads: Bool {
        switch self {
        case .google, .keycloak, .entra, .okta, .auth0: false
        case .keycloakWorkload, .entraWorkload, .googleWorkload, .spiffe: true
        }
    }

    /// The grant where the file names none.
    var grantType: GrantType {
        guard isForWorkloads else { return .authorizationCode }
        return exchangesAssertion ? .tokenExchange : .clientCredentials
    }

    /// Whether the platform's token is exchanged (RFC 8693), and proves no client.
    var exchangesAssertion: Bool { self == .googleWorkload }

    /// The token endpoint of a provider that has no discovery.
    var tokenEndpoint: HTTPURL? {
        exchangesAssertion ? HTTPURL("https://sts.googleapis.com/v1/token") : nil
    }

    /// What is asked for where the file does not say.
    var workloadScope: [String] {
        exchangesAssertion ? ["https://www.googleapis.com/auth/cloud-platform"] : []
    }
}

extension Section<IdentityKey> {
    /// Says that the platform's token is missing.
    func checkWorkload(_ preset: Preset?) {
        guard let preset, preset.isForWorkloads, !has(.assertionFile), !has(.subjectTokenFile) else { return }
        guard ![IdentityKey.assertionFile, .subjectTokenFile].contains(where: isInDoubt) else { return }
        require(
            .assertionFile, "is missing, and preset '\(preset.rawValue)' needs it: the token of the platform")
    }
}
