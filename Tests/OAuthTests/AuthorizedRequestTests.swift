// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdHTTPMessages
import BearerdJSON
import Testing

@testable import OAuth

/// Requests of a program's own, with a session's credentials.
struct `A request with a session's credentials` {
    private let api = "https://api.example/orders"

    private func asking(
        _ harness: SessionHarness, canRepeat: Bool = true, _ statuses: Int...
    ) async throws -> (status: Int, sent: [String]) {
        var sent: [String] = []
        let answer = try await harness.session.authorized(api, canRepeat: canRepeat) { credentials in
            #expect(credentials.name == "Authorization" && "\(credentials)" == "[credentials]")
            sent.append(credentials.value)
            return ResourceResponse(status: statuses[min(sent.count, statuses.count) - 1], value: sent.count)
        }
        #expect(answer.value == sent.count)
        return (answer.status, sent)
    }

    @Test func `is repeated once, with another token, where the server refuses the first`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            let (status, sent) = try await asking(harness, 401, 200)
            #expect(status == 200 && sent == ["Bearer at1", "Bearer at2"])
            let state = await harness.session.status.state
            #expect(state == .authorized)
            // Within the hold-off the server's 401 goes through.
            let second = try await asking(harness, 401, 200)
            #expect(second.status == 401 && second.sent == ["Bearer at2"])
            #expect(await harness.session.status.state == .authorizationError)
        }
    }

    @Test func `is not repeated where that must not be, but the next one gets another token`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            let (status, sent) = try await asking(harness, canRepeat: false, 401, 200)
            #expect(status == 401 && sent == ["Bearer at1"])
            let next = try await asking(harness, canRepeat: false, 200)
            #expect(next.sent == ["Bearer at2"])
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test(arguments: [200, 204, 403, 404, 500])
    func `is not repeated for any other answer`(status: Int) async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            let answer = try await asking(harness, status)
            #expect(answer.status == status && answer.sent == ["Bearer at1"])
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test func `is refused in the clear`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        try await harness.run("rt0") {
            let faults: [(String, AuthorizedRequestError)] = [
                ("http://api.example/", .insecureURL), ("ftp://api.example/", .invalidURL),
                ("/x", .invalidURL),
            ]
            for (url, fault) in faults {
                await #expect(throws: fault) {
                    try await harness.session.authorized(url) { _ in ResourceResponse(status: 200, value: ())
                    }
                }
            }
            let local = try await harness.session.authorized("http://127.0.0.1:1/") { _ in
                ResourceResponse(status: 200, value: ())
            }
            #expect(local.status == 200)
        }
    }

    @Test func `proves the key that its token is bound to, and heeds the nonce that the server wants`()
        async throws
    {
        let harness = SessionHarness { $0.proofs = .always }
        harness.server.script(
            .status(200, #"{"access_token":"at1","token_type":"DPoP","expires_in":300}"#))
        let wish = ResourceResponse(
            status: 401, challenges: [#"DPoP error="use_dpop_nonce""#], nonce: "n1", value: ())
        try await harness.run {
            var sent: [[NamedValue]] = []
            let answer = try await harness.session.authorized(api + "?page=2", method: "PUT") { credentials in
                sent.append(credentials.headers)
                return sent.count == 1 ? wish : ResourceResponse(status: 200, value: ())
            }
            #expect(answer.status == 200)
            #expect(sent.map { $0.map(\.name) } == [["Authorization", "DPoP"], ["Authorization", "DPoP"]])
            #expect(sent.allSatisfy { $0[0].value == "DPoP at1" })
            let proofs = try sent.map { try #require(try JWS(compact: $0[1].value).claims) }
            #expect(proofs.allSatisfy { $0["htm"] == "PUT" && $0["htu"]?.string == api })
            #expect(proofs[0]["nonce"] == nil && proofs[1]["nonce"] == "n1")
            #expect(proofs[0]["jti"] != proofs[1]["jti"])
            // It was about the nonce alone: no refresh, and no error on the state. A server that goes on is not asked on.
            let stubborn = try await harness.session.authorized(api) { credentials in
                sent.append(credentials.headers)
                return wish
            }
            #expect(stubborn.status == 401 && sent.count == 4)
            #expect(harness.server.bodies.count == 1)
            #expect(await harness.session.status.state == .authorized)
        }
    }

    @Test func `comes with what programs ask of a session`() async throws {
        let harness = SessionHarness(grantType: .refreshToken)
        var events = harness.session.events.makeAsyncIterator()
        try await harness.run {
            let session = harness.session
            #expect(await session.needsLogin)
            #expect(await !session.isAuthorized)
            try await harness.session.take(Secret("rt0"), scope: ["api"])
            await harness.settle()
            #expect(await !session.needsLogin)
            #expect(await session.isAuthorized)
            #expect(await harness.session.refreshToken?.matches(Array("rt1".utf8)) == true)
            #expect(await harness.session.scope == ["api"])
        }
        var seen: [SessionEvent] = []
        while let event = await events.next() { seen.append(event) }
        #expect(seen.contains(.tokenRequested(.refreshToken, nil)))
    }
}
