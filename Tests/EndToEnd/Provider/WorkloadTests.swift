// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Workloads that prove themselves by a token of their platform.
@Suite(.blocking) struct `A workload` {
    /// Runs `bearerd token` with an identity of these lines; returns what it printed and the request that it made.
    private func token(
        _ provider: HostileProvider, _ lines: String..., projected: String = "token.of.platform"
    ) throws -> (output: String, request: TokenRequest) {
        let directory = try TemporaryDirectory()
        let file = try directory.write("projected", projected + "\n")
        let text = """
            identities:
              default:
                assertion_file: \(file)
            \(lines.map { "    " + $0 }.joined(separator: "\n"))
            routes:
              - {path: /, upstream: "http://127.0.0.1:1", identity: default}
            store: {type: file, directory: \(directory.path("store"))}
            """
        let result = try BearerdProcess.command("token", "-c", directory.write("config.yaml", text))
        #expect(result.exit == 0, "\(result.errors)")
        return (result.output, try provider.request(1))
    }

    @Test func `with a JWT-SVID names its type`() throws {
        let provider = try HostileProvider()
        let (output, request) = try token(
            provider, "preset: spiffe", "issuer: \(provider.issuer)", "client_id: spiffe://example.test/app")
        #expect(!output.isEmpty)
        #expect(request.grant == "client_credentials")
        #expect(
            request["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe")
        #expect(request["client_assertion"] == "token.of.platform")
        #expect(request["client_id"] == "spiffe://example.test/app")
    }

    @Test func `with a service account's token of Kubernetes is a client of Keycloak's`() throws {
        let provider = try HostileProvider()
        let (_, request) = try token(
            provider, "preset: keycloak-k8s", "issuer: \(provider.issuer)", "client_id: app")
        #expect(
            request["client_assertion_type"] == "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
        #expect(request["client_assertion"] == "token.of.platform" && request["client_id"] == "app")
        #expect(request.message["Authorization"] == nil)
    }

    @Test func `at Google exchanges it, without a client or a header that speaks of one`() throws {
        let provider = try HostileProvider()
        let audience = "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/a/providers/b"
        let (_, request) = try token(
            provider, "preset: gcp-wif", "token_endpoint: \(provider.tokenEndpoint)", "audience: \(audience)")
        #expect(request.grant == "urn:ietf:params:oauth:grant-type:token-exchange")
        #expect(request["subject_token"] == "token.of.platform" && request["audience"] == audience)
        #expect(request["subject_token_type"] == "urn:ietf:params:oauth:token-type:jwt")
        #expect(request["scope"] == "https://www.googleapis.com/auth/cloud-platform")
        #expect(request["client_id"] == nil && request["client_assertion"] == nil)
        #expect(request.message["Authorization"] == nil)
    }
}
