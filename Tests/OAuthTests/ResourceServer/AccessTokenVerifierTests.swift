// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import Testing

@testable import OAuth

/// Access tokens as a resource server judges them (RFC 6750, RFC 9068).
@Suite struct `A resource server` {
    @Test func `accepts a token of its issuer for itself, and reads its claims`() async throws {
        let harness = try ResourceServerHarness()
        let token = try await harness.verifier.verify(harness.request("Bearer \(harness.token())"))
        #expect(
            token.subject == "alice" && token.clientID == "app" && token.scope == ["orders:read", "profile"])
        #expect(token.expiry == WallTime(secondsSinceEpoch: 1_700_000_300))
        #expect("\(token)" == "[access token]")
        #expect(await harness.verdict(harness.request("bearer  \(try harness.token())")) == nil)
    }

    @Test func `says what is wrong with the claims`() async throws {
        let harness = try ResourceServerHarness()
        let changes: [(AccessTokenError.Flaw, (inout JSONObject) -> Void)] = [
            (.issuer, { $0["iss"] = "https://sso.example/" }), (.issuer, { $0["iss"] = nil }),
            (.issuer, { $0["iss"] = ["https://sso.example"] }),
            (.audience, { $0["aud"] = "https://api.example/" }), (.audience, { $0["aud"] = nil }),
            (.audience, { $0["aud"] = ["other"] }), (.audience, { $0["aud"] = 1 }),
            (.noExpiry, { $0["exp"] = nil }), (.noExpiry, { $0["exp"] = "1700000300" }),
            (.expired, { $0["exp"] = 1_699_999_940 }), (.expired, { $0["exp"] = -1e300 }),
            (.notYetValid, { $0["nbf"] = 1_700_000_061 }),
        ]
        for (flaw, change) in changes {
            let request = harness.request("Bearer \(try harness.token(change))")
            #expect(await harness.verdict(request) == .invalidToken(flaw))
        }
        #expect(harness.server.urls.isEmpty, "nobody is asked for keys because of such a token")
        for change: (inout JSONObject) -> Void in [
            { $0["exp"] = 1_699_999_941 }, { $0["nbf"] = 1_700_000_060 },
            { $0["aud"] = ["other", "https://api.example"] },
        ] {
            #expect(await harness.verdict(harness.request("Bearer \(try harness.token(change))")) == nil)
        }
    }

    @Test(arguments: ["JWT", "dpop+jwt", "application/id+jwt", ""])
    func `takes no other kind of token for an access token`(type: String) async throws {
        let harness = try ResourceServerHarness()
        let token = try harness.token(type: type)
        #expect(await harness.verdict(harness.request("Bearer \(token)")) == .invalidToken(.type))
    }

    @Test func `takes the types that its rules name, however they are spelled`() async throws {
        let harness = try ResourceServerHarness { $0.types = ["jwt", "at+jwt"] }
        for type in ["JWT", "application/at+jwt", "AT+JWT"] {
            #expect(await harness.verdict(harness.request("Bearer \(try harness.token(type: type))")) == nil)
        }
    }

    @Test func `refuses signatures that are missing, of another key, or by another algorithm`() async throws {
        let harness = try ResourceServerHarness { $0.algorithms.insert(.hs256) }
        let whole = try harness.token()
        let parts = whole.split(separator: ".")
        let none = Base64URL.encode(Array(#"{"alg":"none","typ":"at+jwt"}"#.utf8))
        #expect(
            await harness.verdict(harness.request("Bearer \(none).\(parts[1]).")) == .invalidToken(.algorithm)
        )
        let stranger = try harness.token(signedBy: .generateP256())
        #expect(await harness.verdict(harness.request("Bearer \(stranger)")) == .invalidToken(.signature))
        // The public key taken for a shared secret: the oldest forgery of all.
        let shown = try #require(harness.key.publicJWK)
        let forged = try harness.token(
            signedBy: SigningKey(secret: Secret(bytes: shown.serialized()), algorithm: .hs256))
        #expect(await harness.verdict(harness.request("Bearer \(forged)")) == .invalidToken(.algorithm))
        for rubbish in ["a", "a.b.c", "..", String(repeating: "A", count: 100_000)] {
            #expect(await harness.verdict(harness.request("Bearer \(rubbish)")) == .invalidToken(.malformed))
        }
    }

    @Test func `wants exactly one token`() async throws {
        let harness = try ResourceServerHarness()
        let token = try harness.token()
        #expect(await harness.verdict(harness.request()) == .missing)
        #expect(await harness.verdict(harness.request("Basic YTpi")) == .missing)
        #expect(await harness.verdict(harness.request("Bearer")) == .invalidRequest)
        #expect(await harness.verdict(harness.request("Bearer a b")) == .invalidRequest)
        #expect(
            await harness.verdict(harness.request("Bearer \(token)", "Bearer \(token)")) == .invalidRequest)
    }

    @Test func `wants the scope that the request needs`() async throws {
        let harness = try ResourceServerHarness()
        let request = harness.request("Bearer \(try harness.token())")
        #expect(await harness.verdict(request, requiring: ["profile"]) == nil)
        let lacking = await harness.verdict(request, requiring: ["profile", "orders:write"])
        #expect(lacking == .insufficientScope(["profile", "orders:write"]))
        #expect(
            lacking?.challenge(realm: "api")
                == #"Bearer realm="api", error="insufficient_scope", scope="profile orders:write""#)
        #expect(lacking?.status == 403)
        let listed = try harness.token {
            $0["scope"] = nil
            $0["scp"] = ["orders:write"]
        }
        #expect(
            await harness.verdict(harness.request("Bearer \(listed)"), requiring: ["orders:write"]) == nil)
    }

    @Test func `tells nothing but the challenge where there is no token`() {
        #expect(AccessTokenError.missing.challenge() == "Bearer" && AccessTokenError.missing.status == 401)
        let failure = TokenFailure(.transient, .unreachable, detail: "x")
        #expect(AccessTokenError.unavailable(failure).challenge() == nil)
    }

    // MARK: Keys

    @Test func `follows a new key, and asks seldom for keys that nobody has`() async throws {
        let harness = try ResourceServerHarness()
        #expect(await harness.verdict(harness.request("Bearer \(try harness.token())")) == nil)
        #expect(harness.fetches == 1)
        let next = try SigningKey.generateP256()
        harness.publish([harness.key, next])
        let rotated = harness.request("Bearer \(try harness.token(signedBy: next))")
        harness.clock.advance(by: .seconds(31))
        #expect(await harness.verdict(rotated) == nil)
        #expect(harness.fetches == 2)
        let good = harness.request("Bearer \(try harness.token())")
        for _ in 0..<50 {
            let bad = harness.request("Bearer \(try harness.token(signedBy: .generateP256()))")
            #expect(await harness.verdict(bad) == .invalidToken(.signature))
            #expect(await harness.verdict(good) == nil)
        }
        #expect(harness.fetches == 3)
    }

    @Test func `does not believe a token where the issuer publishes no keys`() async throws {
        let harness = try ResourceServerHarness()
        harness.server.publish(
            .status(200, #"{"issuer":"https://sso.example"}"#),
            at: "https://sso.example/.well-known/openid-configuration")
        let verdict = await harness.verdict(harness.request("Bearer \(try harness.token())"))
        #expect(verdict == .invalidToken(.signature))
    }

    @Test func `says that it cannot judge while the keys are away, and does not ask for each request`()
        async throws
    {
        let harness = try ResourceServerHarness { $0.keysURL = HTTPURL(ResourceServerHarness.keysURL) }
        harness.server.publish(.error(.timedOut), at: ResourceServerHarness.keysURL)
        let request = harness.request("Bearer \(try harness.token())")
        for _ in 0..<20 {
            guard case .unavailable = await harness.verdict(request) else {
                Issue.record("a token was judged without keys")
                return
            }
        }
        #expect(harness.fetches == 1)
        harness.publish([harness.key])
        harness.clock.advance(by: .seconds(5))
        #expect(await harness.verdict(request) == nil)
    }

    @Test func `goes on with the keys that it has while they cannot be fetched anew, and asks seldom`()
        async throws
    {
        let harness = try ResourceServerHarness()
        let request = harness.request("Bearer \(try harness.token { $0["exp"] = 1_700_090_000 })")
        #expect(await harness.verdict(request) == nil)
        harness.server.publish(.error(.timedOut), at: ResourceServerHarness.keysURL)
        harness.clock.advance(by: .seconds(7200))
        for _ in 0..<20 { #expect(await harness.verdict(request) == nil) }
        #expect(harness.fetches == 2)
        harness.clock.advance(by: .seconds(30))
        for _ in 0..<20 { #expect(await harness.verdict(request) == nil) }
        #expect(harness.fetches == 3)
    }

    @Test(arguments: ["1700009000", "soon"])
    func `does not believe a token whose nbf is no number`(notBefore: String) async throws {
        let harness = try ResourceServerHarness()
        let token = try harness.token { $0["nbf"] = .string(notBefore) }
        #expect(await harness.verdict(harness.request("Bearer \(token)")) == .invalidToken(.notYetValid))
    }
}
