// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import Testing

@testable import OAuth

/// The table of callers, of which anybody may make up more.
@Suite struct `The tokens of callers` {
    private let now = ContinuousClock.now
    private let tokens = CallerTokens()

    private func caller(_ number: Int) throws -> CallerToken {
        try #require(CallerToken(authorization: Array("Bearer caller-\(number)".utf8)))
    }

    private func snapshot(
        _ generation: Int, lasting lifetime: Duration = .seconds(300)
    ) -> AccessTokenSnapshot {
        AccessTokenSnapshot(
            generation: generation, token: Secret("token-\(generation)"), expiry: now + lifetime)
    }

    private func generation(of caller: CallerToken, at moment: Instant) -> Int? {
        guard case .token(let token)? = tokens.known(caller.digest, at: moment) else { return nil }
        return token.generation
    }

    @Test func `are kept until the sooner of both ends`() throws {
        tokens.keep(snapshot(1), for: try caller(1).digest, until: now + .seconds(10), at: now)
        tokens.keep(snapshot(2, lasting: .seconds(5)), for: try caller(2).digest, until: nil, at: now)
        #expect(try generation(of: caller(1), at: now + .seconds(9)) == 1)
        #expect(try generation(of: caller(1), at: now + .seconds(10)) == nil)
        #expect(try generation(of: caller(2), at: now + .seconds(4)) == 2)
        #expect(try generation(of: caller(2), at: now + .seconds(5)) == nil)
    }

    @Test func `are 10,000 at most, of which the newest stay`() throws {
        for number in 0..<10_500 {
            tokens.keep(snapshot(number), for: try caller(number).digest, until: nil, at: now)
        }
        #expect(try generation(of: caller(0), at: now) == nil)
        #expect(try generation(of: caller(10_499), at: now) == 10_499)
        let kept = try (0..<10_500).count { try generation(of: caller($0), at: now) != nil }
        #expect(9_500...10_000 ~= kept)
    }

    @Test func `are pushed out by nobody's whom the provider refuses, nor by more than there may be`() throws
    {
        tokens.keep(snapshot(1), for: try caller(0).digest, until: nil, at: now)
        for number in 1..<21_000 { tokens.refuse(try caller(number).digest, at: now) }
        #expect(try generation(of: caller(0), at: now) == 1)
        let kept = try (1..<21_000).count { try tokens.known(caller($0).digest, at: now) != nil }
        #expect(9_500...10_000 ~= kept)
        guard case .refused? = tokens.known(try caller(20_999).digest, at: now) else {
            Issue.record("the newest refusal is forgotten")
            return
        }
        #expect(try tokens.known(caller(20_999).digest, at: now + .seconds(5)) == nil)
    }

    @Test func `are kept for a moment where the caller's own is over by its own word`() throws {
        tokens.keep(snapshot(1), for: try caller(1).digest, until: now - .seconds(60), at: now)
        tokens.keep(snapshot(2, lasting: .seconds(2)), for: try caller(2).digest, until: now, at: now)
        #expect(try generation(of: caller(1), at: now + .seconds(4)) == 1)
        #expect(try generation(of: caller(1), at: now + .seconds(5)) == nil)
        #expect(try generation(of: caller(2), at: now + .seconds(2)) == nil)
    }

    @Test func `that a resource server refuses are exchanged anew at once, and then once in ten seconds`()
        throws
    {
        let (caller, token) = (try caller(1), snapshot(1))
        tokens.keep(token, for: caller.digest, until: nil, at: now)
        #expect(tokens.drop(token, of: caller.digest, at: now), "whatever its age")
        #expect(generation(of: caller, at: now) == nil && tokens.hasServed(caller.digest))
        #expect(tokens.drop(token, of: caller.digest, at: now), "a request that was sent with it before")
        let next = snapshot(2)
        tokens.keep(next, for: caller.digest, until: nil, at: now)
        #expect(tokens.drop(token, of: caller.digest, at: now), "there is another one")
        #expect(!tokens.drop(next, of: caller.digest, at: now + .seconds(9)))
        #expect(generation(of: caller, at: now + .seconds(9)) == 2)
        let other = try self.caller(2)
        tokens.keep(token, for: other.digest, until: nil, at: now)
        #expect(tokens.drop(token, of: other.digest, at: now + .seconds(9)), "each caller by itself")
        #expect(tokens.drop(next, of: caller.digest, at: now + .seconds(10)))
    }

    @Test(arguments: [
        "", "Bearer", "Bearer ", "Basic x", "Bearer a b", "Bearer a,b", "Bearer \u{7F}", "bearerx", "DPoP x",
    ])
    func `are read from one bearer token alone`(field: String) {
        #expect(CallerToken(authorization: Array(field.utf8)) == nil)
    }

    @Test func `tell their end and their subject where they are a JWT`() throws {
        func caller(_ claims: String) throws -> CallerToken {
            let parts = [#"{"alg":"RS256"}"#, claims, "x"].map { Base64URL.encode(Array($0.utf8)) }
            return try #require(
                CallerToken(authorization: Array("bearer \(parts.joined(separator: "."))".utf8)))
        }
        let whole = try caller(#"{"exp":1700000000,"sub":"alice"}"#)
        #expect(whole.end == WallTime(secondsSinceEpoch: 1_700_000_000) && whole.subject == "alice")
        #expect(try caller(#"{"exp":1e300}"#).end == nil && caller(#"{"exp":"x"}"#).end == nil)
        #expect(try caller("[]").subject == nil)
    }
}
