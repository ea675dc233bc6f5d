// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import Testing

@Suite struct `A preset` {
    private func client(
        _ preset: String, issuer: String?, grant: String = "client_credentials", _ lines: String...
    ) -> (client: ClientConfiguration?, problems: [String]) {
        let text = withIdentity("preset: \(preset)", "client_secret: s", lines.joined(separator: "\n"))
            .replacing("authorization_code", with: grant)
            .replacing(
                "    issuer: https://sso.example.com\n", with: issuer.map { "    issuer: \($0)\n" } ?? "")
        let report = report(text)
        return (report.configuration?.identities.first?.client, report.problems.map(\.reason))
    }

    @Test func `knows Google's issuer and how a refresh token is had there`() throws {
        let client = try #require(client("google", issuer: nil).client)
        #expect(client.issuer == "https://accounts.google.com")
        #expect(
            client.authorizationParameters == [
                NamedValue("access_type", "offline"), NamedValue("prompt", "consent"),
            ])
        let own = try #require(
            self.client("google", issuer: nil, "authorization_params: {prompt: login}").client)
        #expect(
            own.authorizationParameters == [
                NamedValue("prompt", "login"), NamedValue("access_type", "offline"),
            ])
    }

    @Test(arguments: [
        ("https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad"),
        ("https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0"),
    ])
    func `of Entra means its second version`(issuer: String) throws {
        let (client, problems) = client("entra", issuer: issuer)
        #expect(problems == [])
        #expect(
            client?.issuer == "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0")
        #expect(client?.basicEncoding == .raw)
        #expect(self.client("entra", issuer: issuer, "basic_encoding: form").client?.basicEncoding == .form)
    }

    @Test func `points out what cannot work`() throws {
        #expect(client("entra", issuer: "https://login.microsoftonline.com/common/v2.0").problems.count == 1)
        #expect(client("keycloak", issuer: "https://sso.example.com").problems.count == 1)
        #expect(client("keycloak", issuer: "https://sso.example.com/realms/demo").problems == [])
        let realm = "https://sso.example.com/realms/demo"
        let audience = client("keycloak", issuer: realm, "audience: orders").problems
        #expect(
            audience.count == 1 && audience.first?.contains("Keycloak takes no audience") == true,
            "\(audience)")
        let route = report(
            withIdentity("preset: keycloak").replacing("https://sso.example.com", with: realm)
                + "    audience: orders\n")
        #expect(route.problems.map(\.path) == ["routes[0].audience"], "\(route.problems)")
        #expect(route.problems.first?.reason.contains("Keycloak takes no audience") == true)
        let exchange = client(
            "keycloak", issuer: realm, grant: "token_exchange", "audience: orders",
            "subject_token: from_request")
        #expect(exchange.problems == [], "\(exchange.problems)")
        #expect(client("auth0", issuer: "https://acme.auth0.com").problems.count == 1)
        let good = client("auth0", issuer: "https://acme.auth0.com", "audience: https://api")
        #expect(good.problems == [])
        #expect(good.client?.issuer == "https://acme.auth0.com/")
    }

    @Test func `minds no redirect that takes any port, unless the provider does`() throws {
        let uri = "redirect_uri: http://127.0.0.1:0/callback"
        let (login, issuer) = ("authorization_code", "https://acme.auth0.com")
        #expect(client("keycloak", issuer: "https://a/realms/b", grant: login, uri).problems == [])
        let audience = "audience: https://api"
        #expect(client("auth0", issuer: issuer, grant: login, uri, audience).problems.count == 1)
        let fixed = "redirect_uri: http://127.0.0.1:8400/callback"
        #expect(client("auth0", issuer: issuer, grant: login, fixed, audience).problems == [])
    }

    @Test(arguments: ["keycloak", "entra", "okta", "auth0"])
    func `needs an issuer where everybody has another`(preset: String) {
        #expect(
            client(preset, issuer: nil).problems.contains(
                "is missing, and there is neither discovery_url nor token_endpoint"))
    }

    @Test func `asks for no refresh token where nobody logs in`() {
        #expect(client("okta", issuer: "https://acme.okta.com").client?.scope == [])
    }

    @Test func `must be one that is known`() {
        #expect(
            client("keyclaok", issuer: "https://a").problems == [
                "'keyclaok' is not one of google, keycloak, entra, okta, auth0, keycloak-k8s, entra-wif, gcp-wif, spiffe; did you mean 'keycloak'?"
            ])
    }
}
