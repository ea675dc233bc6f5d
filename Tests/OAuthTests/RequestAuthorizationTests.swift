// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import Testing

@testable import OAuth

/// The one place that writes a credential into a head.
@Suite struct `The authorization of a request` {
    private func token(_ text: String, _ generation: Int = 1) -> AccessTokenSnapshot {
        AccessTokenSnapshot(generation: generation, token: Secret(text), expiry: .now + .seconds(60))
    }

    @Test(arguments: [
        ("Authorization", "Bearer", "Bearer fake"), ("Authorization", "DPoP", "DPoP fake"),
        ("X-Api-Key", "", "fake"), ("X-Token", "Token", "Token fake"),
    ])
    func `is written as the route says`(name: String, scheme: String, expected: String) throws {
        let name = try #require(HTTPFields.Name(name))
        var field = RequestAuthorization(.init(name: name, scheme: scheme))
        var head = HTTPRequest(method: .get, target: "/")
        field.authorize(&head, with: token("fake"))
        #expect(head.fields.values(of: name) == [expected])
    }

    @Test func `takes the place of all that was there, and of the token before`() {
        var field = RequestAuthorization()
        var head = HTTPRequest(method: .get, target: "/")
        head.fields.append(.authorization, "Basic client's")
        head.fields.append(.authorization, "Basic another's")
        field.authorize(&head, with: token("one"))
        #expect(head.fields.values(of: .authorization) == ["Bearer one"])
        field.authorize(&head, with: token("two", 2))
        #expect(head.fields.values(of: .authorization) == ["Bearer two"])
        field.authorize(&head, with: token("other session's", 2))
        #expect(head.fields.values(of: .authorization) == ["Bearer other session's"])
        field.clear(&head)
        #expect(!head.fields.contains(.authorization))
    }

    @Test func `is the same for a request to the authorization server`() throws {
        let url = try #require(HTTPURL("https://sso.example/userinfo"))
        var request = TransferRequest(url: url)
        request.fields.append(.authorization, "Basic earlier")
        RequestAuthorization.authorize(&request, withBearer: Secret("fake"))
        #expect(request.headers == [NamedValue("Authorization", "Bearer fake")])
    }

    @Test func `is left out, and the client's with it, for a token that no field may hold`() {
        var field = RequestAuthorization()
        var head = HTTPRequest(method: .get, target: "/")
        field.authorize(&head, with: token("one"))
        field.authorize(&head, with: token("two\r\nX-Evil: 1", 2))
        #expect(head.fields.isEmpty)
        field.authorize(&head, with: token("three", 3))
        #expect(head.fields.values(of: .authorization) == ["Bearer three"])
    }
}
