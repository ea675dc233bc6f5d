// SPDX-License-Identifier: Apache-2.0

import Crypto
import Testing

@testable import OAuth

struct `A stored session` {
    private func example() -> StoredSession {
        var session = StoredSession(identity: "default", generation: 7, binding: "https://sso.example app")
        session.origin = "login"
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

    @Test func `reads back as it was written`() throws {
        let session = try #require(StoredSession(decoding: example().encoded()))
        #expect(session.encoded() == example().encoded())
        #expect(session.generation == 7 && session.origin == "login")
        #expect(session.accessToken?.token.matches(Array("at-1".utf8)) == true)
        #expect(session.accessToken?.expiresAt.sinceEpoch == .milliseconds(1_700_000_000_123))
        #expect(session.refusal == .invalidGrant)
        #expect(session.basicEncoding == .raw)
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

    @Test func `never prints a token`() {
        let session = example()
        for text in ["\(session)", String(reflecting: session)] {
            #expect(!text.contains("at-1") && !text.contains("rt-1"))
        }
    }
}
