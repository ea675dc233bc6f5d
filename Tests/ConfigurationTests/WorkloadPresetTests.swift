// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth
import Testing

@Suite struct `A preset for workloads` {
    private let directory: TemporaryDirectory
    private let file: String

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.file("token", "not.a.token")
    }

    /// An identity of these lines alone, and what there is to say of it.
    private func identity(_ lines: String...) -> (identity: IdentityConfiguration?, problems: [String]) {
        let report = report(
            "identities:\n  default:\n" + lines.map { "    \($0)\n" }.joined()
                + "routes:\n  - {upstream: 'https://api.example.com', identity: default}\n")
        return (report.configuration?.identities.first, report.problems.map(\.reason))
    }

    @Test(arguments: [
        ("keycloak-k8s", "https://sso.example.com/realms/demo"), ("spiffe", "https://sso.example.com"),
        ("entra-wif", "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad"),
    ])
    func `needs nothing but names and the platform's token`(preset: String, issuer: String) throws {
        let (identity, problems) = identity(
            "preset: \(preset)", "issuer: \(issuer)", "client_id: app", "assertion_file: \(file)",
            "scope: api://orders/.default")
        #expect(problems == [])
        let client = try #require(identity?.client)
        #expect(client.grantType == .clientCredentials && client.authentication == .privateKeyJWT)
        #expect(client.scope == ["api://orders/.default"])
        #expect(client.assertion.isVerifiableIdentityDocument == (preset == "spiffe"))
        #expect(client.issuer?.hasSuffix("/v2.0") == (preset == "entra-wif"))
        #expect(identity?.credentials.keys.map { $0 } == [.assertion])
    }

    @Test func `of Google needs no client, and exchanges the token`() throws {
        let provider =
            "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/cluster"
        let (identity, problems) = identity(
            "preset: gcp-wif", "audience: \(provider)", "assertion_file: \(file)")
        #expect(problems == [])
        let client = try #require(identity?.client)
        #expect(client.grantType == .tokenExchange && client.authentication == .none && client.needsNoClient)
        #expect(client.endpoints[.token]?.description == "https://sts.googleapis.com/v1/token")
        #expect(client.subjectTokenType == "urn:ietf:params:oauth:token-type:jwt")
        #expect(client.requestedTokenType == "urn:ietf:params:oauth:token-type:access_token")
        #expect(client.scope == ["https://www.googleapis.com/auth/cloud-platform"])
        #expect(identity?.credentials.keys.map { $0 } == [.subjectToken])
        #expect(identity?.credentialKeys[.subjectToken] == "assertion_file")
    }

    @Test func `gives way to what the file says`() throws {
        let (identity, _) = identity(
            "preset: gcp-wif", "audience: //iam.googleapis.com/projects/1", "subject_token_file: \(file)",
            "subject_token_type: id_token", "scope: narrow", "token_endpoint: https://sts.example.com/token")
        let client = try #require(identity?.client)
        #expect(client.endpoints[.token]?.description == "https://sts.example.com/token")
        #expect(client.subjectTokenType == "urn:ietf:params:oauth:token-type:id_token")
        #expect(client.scope == ["narrow"])
        #expect(identity?.credentialKeys[.subjectToken] == "subject_token_file")
    }

    @Test(arguments: ["keycloak-k8s", "entra-wif", "gcp-wif", "spiffe"])
    func `says that the token is missing`(preset: String) {
        let tenant = "https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/realms"
        #expect(
            identity("preset: \(preset)", "issuer: \(tenant)", "client_id: app").problems.contains(
                "is missing, and preset '\(preset)' needs it: the token of the platform"))
    }

    @Test func `points out what cannot work`() {
        let google = identity("preset: gcp-wif", "audience: my-pool", "assertion_file: \(file)").problems
        #expect(google.count == 1 && google[0].contains("//iam.googleapis.com/projects/NUMBER"))
        let entra = identity(
            "preset: entra-wif", "issuer: https://login.microsoftonline.com/contoso", "client_id: app",
            "assertion_file: \(file)", "scope: api://orders/read"
        ).problems
        #expect(entra.count == 2 && entra.contains { $0.contains("/.default") })
        let keycloak = identity(
            "preset: keycloak-k8s", "issuer: https://sso.example.com", "client_id: app",
            "assertion_file: \(file)")
        #expect(keycloak.problems == ["a realm of Keycloak is at …/realms/NAME"])
    }
}
