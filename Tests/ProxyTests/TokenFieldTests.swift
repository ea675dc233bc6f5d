// SPDX-License-Identifier: Apache-2.0

import Cryptography
import HTTPMessages
import OAuth
import Testing

@testable import Proxy

@Suite("The field of a token")
struct TokenFieldTests {
    private func token(_ text: String, _ generation: Int = 1) -> AccessTokenSnapshot {
        AccessTokenSnapshot(generation: generation, token: Secret(text), expiry: .now + .seconds(60))
    }

    @Test(arguments: [
        ("Authorization", "Bearer", "Bearer fake"), ("Authorization", "DPoP", "DPoP fake"),
        ("X-Api-Key", "", "fake"), ("X-Token", "Token", "Token fake"),
    ])
    func `is written as the route says`(name: String, scheme: String, expected: String) throws {
        let name = try #require(HTTPFields.Name(name))
        var field = TokenField(Route.Credentials(name: name, scheme: scheme))
        var head = HTTPRequest(method: .get, target: "/")
        field.authorize(&head, with: token("fake"))
        #expect(head.fields.values(of: name) == [expected])
    }

    @Test func `takes the place of all that was there, and of the token before`() {
        var field = TokenField(Route.Credentials())
        var head = HTTPRequest(method: .get, target: "/")
        head.fields.append(.authorization, "Basic client's")
        head.fields.append(.authorization, "Basic another's")
        field.authorize(&head, with: token("one"))
        #expect(head.fields.values(of: .authorization) == ["Bearer one"])
        field.authorize(&head, with: token("two", 2))
        #expect(head.fields.values(of: .authorization) == ["Bearer two"])
        field.authorize(&head, with: token("other session's", 2))
        #expect(head.fields.values(of: .authorization) == ["Bearer other session's"])
        field.remove(from: &head)
        #expect(!head.fields.contains(.authorization))
    }
}
