// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// Access tokens for other people or purposes are other ones.
@Suite struct `The digest of a token request` {
    private static let changes: [@Sendable (inout ClientConfiguration) -> Void] = [
        { $0.grantFile = "/run/bob" }, { $0.assertion.claims = ["act": "bob"] },
        { $0.assertion.audience = .issuer }, { $0.tokenHeaders = [NamedValue("X-Tenant", "b")] },
        { $0.endpoints[.token] = HTTPURL("https://sso.example/b") },
    ]

    @Test(arguments: changes.indices)
    func `changes with all that decides for whom and for what a token is`(index: Int) {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .jwtBearer)
        client.grantFile = "/run/alice"
        client.assertion.claims = ["act": "alice"]
        let before = client.requestDigest
        Self.changes[index](&client)
        #expect(client.requestDigest != before)
    }
}
