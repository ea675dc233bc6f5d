// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// What AppAuth's and GTMAppAuth's own tests hold, in our words.
@Suite struct `What AppAuth does` {
    private func formEncoded(_ text: String) -> String {
        var bytes: [UInt8] = []
        PercentEncoding.encode(text, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test(arguments: [
        (" %&+£€", "%20%25%26%2B%C2%A3%E2%82%AC"), ("Param+eter Va=l&u#e2", "Param%2Beter%20Va%3Dl%26u%23e2"),
        ("", ""), ("azAZ09-._~", "azAZ09-._~"),
    ])
    func `to texts in forms and queries is done here`(plain: String, encoded: String) {
        #expect(formEncoded(plain) == encoded)
        let back = QueryParameters("code=\(encoded)")?[.code]
        #expect(back == (plain.isEmpty ? nil : plain))
        #expect(QueryParameters("code=" + encoded.replacing("%20", with: "+"))?[.code] == back)
    }

    /// Decoded as a server decodes them; a space is `%20` here and `+` there, which means the same.
    @Test(arguments: [
        ("test_client_id", "test_client_secret", "dGVzdF9jbGllbnRfaWQ6dGVzdF9jbGllbnRfc2VjcmV0"),
        ("0!1*$$", "1/2_3+4", "MCUyMTEqJTI0JTI0OjElMkYyXzMlMkI0"),
        (
            "1PpG/Q 1", "z/tZ9VwFZqApmIQ+ZH1I5pLk/uB4ud:X2/8bL+wfFTt1rFw=",
            "MVBwRyUyRlErMTp6JTJGdFo5VndGWnFBcG1JUSUyQlpIMUk1cExrJTJGdUI0dWQlM0FYMiUyRjhiTCUyQndmRlR0MXJGdyUzRA=="
        ),
    ])
    func `to Basic credentials means the same to a server`(id: String, secret: String, theirs: String) throws
    {
        let ours = ClientProof.basicCredentials(clientID: id, secret: Secret(secret), isFormEncoded: true)
        let bytes = try #require(Base64.decode(String(ours.dropFirst("Basic ".count))))
        let expected = try #require(Base64.decode(theirs))
        func pair(_ bytes: [UInt8]) -> [String?] {
            String(decoding: bytes, as: UTF8.self).split(separator: ":").map {
                QueryParameters("code=\($0)")?[.code]
            }
        }
        #expect(pair(bytes) == [id, secret] && pair(expected) == [id, secret])
    }

    @Test(arguments: [
        (JSONValue.bool(true), true), (.bool(false), false), ("true", true), ("True", true), ("y", false),
        ("false", false), (.integer(1), false), (.null, false),
    ])
    func `to email_verified takes the Boolean that it is`(claim: JSONValue, expected: Bool) throws {
        let claims: JSONObject = [
            "iss": "https://a", "aud": "app", "sub": "alice", "exp": 2, "iat": 1, "email": "a@b.example",
            "email_verified": claim,
        ]
        let text = try SigningKey(secret: Secret("s")).sign(claims.serialized())
        let token = try #require(IDToken(text))
        #expect(token.subject == "alice" && token.email == "a@b.example" && token["nobody"] == nil)
        #expect(token.isEmailVerified == expected)
        #expect("\(token)" == "[id token]")
    }

    @Test(arguments: ["", "a", "a.b", "a.b.c", "..", "e30.e30.", "\u{0}.\u{0}.\u{0}"])
    func `to an id token in pieces ends no program`(text: String) {
        #expect(IDToken(text) == nil)
    }

    @Test func `to scopes keeps what was granted until an answer says otherwise`() throws {
        let harness = EngineHarness(refreshToken: "rt")
        for (answered, kept) in [(["a", "b"], ["a", "b"]), (nil, ["a", "b"]), (["a"], ["a"])]
            as [([String]?, [String])]
        {
            try harness.state.refreshRequested(at: harness.now)
            _ = harness.begins()
            let grant = TokenResponse(accessToken: Secret("at"), lifetime: .seconds(300), scope: answered)
            _ = harness.state.received(grant, sentAt: harness.now, wall: harness.wall, jitter: 0)
            harness.state.attemptEnded(at: harness.now, isSaved: true)
            #expect(harness.state.session.scope == kept)
        }
    }
}
