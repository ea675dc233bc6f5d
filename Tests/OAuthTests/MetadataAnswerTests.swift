// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import Testing

@testable import OAuth

/// Answers of a cloud's metadata server that hold no token.
struct `A metadata server that gives no token` {
    private func state(
        _ source: TokenSource, _ answer: FakeServer.Reply, at url: String
    ) async throws
        -> SessionState?
    {
        let harness = SessionHarness {
            $0 = ClientConfiguration(name: "default", source: source)
            $0.resource = ["https://vault.azure.net"]
        }
        harness.server.publish(answer, at: url)
        var state: SessionState?
        try await harness.run { state = await harness.session.status.state }
        return state
    }

    @Test(arguments: [404, 410, 429, 500, 503])
    func `is asked again, at Azure's instance metadata service whatever it says`(status: Int) async throws {
        let endpoint = try #require(HTTPURL("http://169.254.169.254/metadata/identity/oauth2/token"))
        let state = try await state(
            .azureIdentity(AzureIdentity(endpoint: endpoint, isOfAppService: false, clientID: nil)),
            .status(status, #"{"error":"not_found","error_description":"try again"}"#),
            at: "\(endpoint)?api-version=2018-02-01&resource=https%3A%2F%2Fvault.azure.net")
        #expect(state == .unavailable)
    }

    @Test(arguments: ["\"soon\"", "\"2026-11-28 00:00:00\"", "{}", "\"1\""])
    func `is asked again, if the end of its token cannot be read or is over`(end: String) async throws {
        let endpoint = try #require(HTTPURL("http://169.254.169.254/metadata/identity/oauth2/token"))
        let state = try await state(
            .azureIdentity(AzureIdentity(endpoint: endpoint, isOfAppService: false, clientID: nil)),
            .status(200, #"{"access_token":"x","expires_in":"3599","expires_on":\#(end)}"#),
            at: "\(endpoint)?api-version=2018-02-01&resource=https%3A%2F%2Fvault.azure.net")
        #expect(state == .unavailable)
    }

    @Test(arguments: [(404, SessionState.misconfigured), (429, .unavailable), (500, .unavailable)])
    func `knows no such account, at Google, if it answers 404`(
        status: Int, expected: SessionState
    ) async throws {
        let server = try #require(HTTPURL("http://metadata.google.internal"))
        let state = try await state(
            .googleMetadata(server: server, account: "default"), .status(status),
            at: "\(server.origin)/computeMetadata/v1/instance/service-accounts/default/token")
        #expect(state == expected)
    }
}
