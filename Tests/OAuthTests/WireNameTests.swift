// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import OAuth

struct `A name on the wire` {
    @Test func `names what AppAuth names`() {
        #expect(
            [Scope.openID, Scope.profile, Scope.email, Scope.address, Scope.phone]
                == ["openid", "profile", "email", "address", "phone"])
        let grants: [(GrantType, String)] = [
            (.authorizationCode, "authorization_code"), (.refreshToken, "refresh_token"),
            (.password, "password"), (.clientCredentials, "client_credentials"),
            (.deviceCode, "urn:ietf:params:oauth:grant-type:device_code"),
        ]
        for (grant, name) in grants { #expect(grant.rawValue == name) }
    }

    @Test func `of a provider whose ways are known is enough to begin`() {
        let cases: [(Preset, String?, String?)] = [
            (.google, nil, "https://accounts.google.com"),
            (.keycloak, "https://sso.example/realms/demo", "https://sso.example/realms/demo"),
            (.entra, "https://login.example/tenant", "https://login.example/tenant/v2.0"),
            (.okta, "https://okta.example/oauth2/default", "https://okta.example/oauth2/default"),
            (.auth0, "https://auth0.example", "https://auth0.example/"),
            (.spiffe, "https://sso.example", "https://sso.example"), (.googleWorkload, nil, nil),
        ]
        for (preset, given, issuer) in cases {
            let client = ClientConfiguration(
                preset, name: "default", clientID: "app", issuer: given, scope: ["api"])
            #expect(client.issuer == issuer && client.problems.isEmpty, "\(preset): \(client.problems)")
            #expect(client.scope.first == "api")
        }
        let okta = ClientConfiguration(.okta, name: "a", clientID: "b", issuer: "https://okta.example")
        #expect(okta.scope == ["openid", "offline_access"])
        let google = ClientConfiguration.google(name: "a", clientID: "b")
        #expect(google.authorizationParameters.map(\.name) == ["access_type", "prompt"])
    }
}
