// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import Testing

@testable import OAuth

struct `A stored session` {
    private func example() -> StoredSession {
        var session = StoredSession(identity: "default", generation: 7, binding: "https://sso.example app")
        session.origin = "login"
        session.began = WallTime(secondsSinceEpoch: 1_699_999_600)
        session.accessToken = StoredAccessToken(
            token: Secret("at-1"), generation: 7,
            expiresAt: WallTime(sinceEpoch: .milliseconds(1_700_000_000_123)),
            lifetime: .seconds(300), request: "read")
        session.refreshToken = Secret("rt-1")
        session.scope = ["read", "write"]
        session.refusal = .invalidGrant
        session.lastRefresh = WallTime(secondsSinceEpoch: 1_699_999_700)
        session.basicEncoding = .raw
        return session
    }

    @Test func `has a token for a client that asks for just that, until it expires`() {
        var client = ClientConfiguration(name: "default", clientID: "app", grantType: .clientCredentials)
        client.issuer = "https://sso.example"
        var session = example()
        session.accessToken?.request = client.requestDigest
        let before = WallTime(sinceEpoch: .milliseconds(1_700_000_000_122))
        #expect(session.accessToken(of: client, at: before)?.generation == 7)
        #expect(session.accessToken(of: client, at: before + .milliseconds(1)) == nil)
        #expect(session.accessToken(of: client.aimed(at: TokenTarget(scope: ["more"])), at: before) == nil)
        #expect(session.accessToken(of: client.aimed(at: TokenTarget(audience: ["b"])), at: before) == nil)
        client.clientID = "other"
        #expect(session.accessToken(of: client, at: before) == nil)
        session.binding = "https://other.example app"
        client.clientID = "app"
        #expect(session.accessToken(of: client, at: before) == nil)
    }

    @Test func `reads back as it was written`() throws {
        let session = try #require(StoredSession(decoding: example().encoded()))
        #expect(session.encoded() == example().encoded())
        #expect(session.generation == 7 && session.origin == "login")
        #expect(session.began == WallTime(secondsSinceEpoch: 1_699_999_600))
        #expect(session.accessToken?.token.matches(Array("at-1".utf8)) == true)
        #expect(session.accessToken?.expiresAt.sinceEpoch == .milliseconds(1_700_000_000_123))
        #expect(session.refusal == .invalidGrant)
        #expect(session.basicEncoding == .raw)
    }

    /// No store reads a record of any size: one that was written and is not read again would be a session lost.
    @Test func `is never too large to be read again, and keeps its refresh token`() throws {
        var session = example()
        session.scope = Array(repeating: "a", count: 500_000)
        for number in 0..<9 {
            session.accessTokens.append(
                StoredAccessToken(
                    token: Secret("\(number)" + String(repeating: "t", count: 800_000)), generation: 7,
                    expiresAt: WallTime(secondsSinceEpoch: 1_800_000_000), lifetime: .seconds(300),
                    request: "\(number)"))
        }
        let bytes = session.encoded()
        #expect(bytes.count < 5 << 20)
        let read = try #require(StoredSession(decoding: bytes))
        #expect(read.refreshToken?.matches(Secret("rt-1")) == true && read.accessTokens.isEmpty)
        #expect(read.generation == 7 && read.scope.count == 500_000)
    }

    @Test func `is never nested too deeply to be read again`() throws {
        for depth in 60...66 {
            let nested = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            guard let object = try? JSONObject(parsing: Array(#"{"a":\#(nested)}"#.utf8)) else { continue }
            var session = example()
            session.additionalParameters = AdditionalParameters(object)
            let read = StoredSession(decoding: session.encoded())
            #expect(read?.refreshToken?.matches(Secret("rt-1")) == true, "\(depth)")
        }
    }

    @Test func `is damaged at whatever byte it is cut off`() {
        let whole = example().encoded()
        for length in 0..<(whole.count - 2) {
            #expect(StoredSession(decoding: Array(whole.prefix(length))) == nil)
        }
    }

    @Test(arguments: [
        "[]", "{}", #"{"version":2,"identity":"a","binding":"b","generation":1}"#,
        #"{"version":1,"identity":"a","binding":"b","generation":-1}"#,
        #"{"version":1,"identity":"a","binding":"b","generation":9223372036854775807}"#,
        #"{"version":1,"identity":4,"binding":"b","generation":1}"#,
    ])
    func `of another layout is refused`(text: String) {
        #expect(StoredSession(decoding: Array(text.utf8)) == nil)
    }

    @Test func `of a later layout is known as that`() {
        #expect(StoredSession.isOfLaterLayout(Array(#"{"version":2,"x":1}"#.utf8)))
        for text in [#"{"version":1}"#, #"{"version":"2"}"#, "{}", "", "[2]"] {
            #expect(!StoredSession.isOfLaterLayout(Array(text.utf8)))
        }
    }

    @Test func `keeps what it does not know`() throws {
        var text = String(decoding: example().encoded(), as: UTF8.self)
        text.replace(#""version": 1,"#, with: #""version": 1, "dpop_key": {"kty":"EC"},"#)
        text.replace(#""token": "at-1","#, with: #""token": "at-1", "proof": [1],"#)
        var session = try #require(StoredSession(decoding: Array(text.utf8)))
        session.generation += 1
        let written = String(decoding: session.encoded(), as: UTF8.self)
        #expect(written.contains("dpop_key") && written.contains("EC") && written.contains("proof"))
        #expect(StoredSession(decoding: Array(written.utf8))?.generation == 8)
    }

    @Test func `never prints a token`() {
        let session = example()
        for text in ["\(session)", String(reflecting: session)] {
            #expect(!text.contains("at-1") && !text.contains("rt-1"))
        }
    }
}
