// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import Testing

@testable import OAuth

@Suite
struct `An id token` {
    /// The moment of the test, and of the issue.
    private static let now = WallTime(secondsSinceEpoch: 1_700_000_000)

    private func claims(_ change: (inout JSONObject) -> Void = { _ in }) -> JSONObject {
        var claims: JSONObject = [
            "iss": "https://sso.example", "aud": "app", "sub": "alice", "exp": 1_700_000_300,
            "iat": 1_700_000_000, "nonce": "n1",
        ]
        change(&claims)
        return claims
    }

    private func token(_ claims: JSONObject) throws -> IDToken {
        let key = try SigningKey(secret: Secret("not looked at here"))
        return try IDToken(parsing: Secret(key.sign(claims.serialized())))
    }

    private func rules(
        _ occasion: IDTokenRules.Occasion = .login(nonce: Secret("n1")),
        issuer: String? = "https://sso.example",
        accessToken: String = "at1", skew: Duration = .seconds(60), parameters: [NamedValue] = []
    ) -> IDTokenRules {
        IDTokenRules(
            issuer: issuer, clientID: "app", occasion: occasion, accessToken: Secret(accessToken),
            clockSkew: skew,
            now: Self.now, parameters: parameters)
    }

    private func verdict(
        _ rules: IDTokenRules? = nil, _ change: (inout JSONObject) -> Void
    ) throws -> IDTokenError? {
        let candidate = try token(claims(change))
        do throws(IDTokenError) {
            try (rules ?? self.rules()).check(candidate)
            return nil
        } catch {
            return error
        }
    }

    @Test func `of a login is believed when every claim is right`() throws {
        #expect(try verdict { _ in } == nil)
        #expect(try verdict { $0["aud"] = ["app"] } == nil)
        #expect(try verdict { $0["azp"] = "app" } == nil)
        #expect(try verdict { $0["exp"] = 1_700_000_299.5 } == nil)
    }

    @Test(arguments: ["azp", "at_hash"])
    func `with a claim of another type than text is refused, as if it had a wrong one`(name: String) throws {
        for wrong: JSONValue in [5, true, ["app"], [:]] {
            #expect(throws: IDTokenError.malformed) { try token(claims { $0[name] = wrong }) }
        }
    }

    @Test(arguments: ["iss", "aud", "sub", "exp", "iat"])
    func `without a claim that all have is refused`(name: String) throws {
        for wrong: JSONValue? in [nil, .null, "", true, [:]] {
            #expect(throws: IDTokenError.missingClaim(name)) { try token(claims { $0[name] = wrong }) }
        }
    }

    @Test func `with numbers in strings is refused`() {
        #expect(throws: IDTokenError.missingClaim("exp")) { try token(claims { $0["exp"] = "1700000300" }) }
        #expect(throws: IDTokenError.missingClaim("iat")) { try token(claims { $0["iat"] = "1700000000" }) }
    }

    @Test(arguments: [
        "https://sso.example/", "http://sso.example", "HTTPS://sso.example", "https://evil.example",
    ])
    func `of another issuer is refused`(issuer: String) throws {
        #expect(
            try verdict { $0["iss"] = .string(issuer) }
                == .issuerMismatch(found: issuer, expected: "https://sso.example"))
    }

    @Test func `is taken from any issuer where nobody says who it is`() throws {
        #expect(try verdict(rules(issuer: nil)) { $0["iss"] = "https://other.example" } == nil)
    }

    @Test func `for another client is refused`() throws {
        #expect(try verdict { $0["aud"] = "other" } == .audienceMismatch)
        #expect(try verdict { $0["aud"] = ["other", "App"] } == .audienceMismatch)
        // AppAuth takes this one: its azp alone suffices there.
        #expect(
            try verdict {
                $0["aud"] = "other"
                $0["azp"] = "app"
            } == .audienceMismatch)
        #expect(throws: IDTokenError.missingClaim("aud")) { try token(claims { $0["aud"] = ["app", 1] }) }
        #expect(throws: IDTokenError.missingClaim("aud")) { try token(claims { $0["aud"] = [] }) }
    }

    @Test func `is compared by its bytes, and not as people read it`() throws {
        // Swift takes these two for equal.
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        try #require(one == two)
        let rules = IDTokenRules(
            issuer: "https://\(one)", clientID: one, occasion: .login(nonce: Secret("n1")),
            accessToken: Secret("at1"), clockSkew: .zero, now: Self.now,
            parameters: [NamedValue("acr_values", one)])
        func verdict(_ name: String, _ value: JSONValue) throws -> IDTokenError? {
            try self.verdict(rules) {
                $0["iss"] = .string("https://\(one)")
                $0["aud"] = .string(one)
                $0["azp"] = .string(one)
                $0["acr"] = .string(one)
                $0[name] = value
            }
        }
        #expect(try verdict("acr", .string(one)) == nil)
        #expect(
            try verdict("iss", .string("https://\(two)"))
                == .issuerMismatch(found: "https://\(two)", expected: "https://\(one)"))
        #expect(try verdict("aud", .string(two)) == .audienceMismatch)
        #expect(try verdict("azp", .string(two)) == .authorizedPartyMismatch)
        #expect(try verdict("acr", .string(two)) == .contextMismatch)
        let first = try token(claims { $0["sub"] = .string(one) })
        let refresh = self.rules(.refresh(previous: first))
        #expect(try self.verdict(refresh) { $0["sub"] = .string(two) } == .subjectChanged)
    }

    @Test func `for several parties must be authorized for us`() throws {
        #expect(try verdict { $0["aud"] = ["app", "other"] } == .authorizedPartyMismatch)
        #expect(try verdict { $0["azp"] = "other" } == .authorizedPartyMismatch)
        #expect(
            try verdict {
                $0["aud"] = ["other", "app"]
                $0["azp"] = "app"
            } == nil)
    }

    @Test func `that has expired is refused, the clocks' difference allowed for`() throws {
        #expect(try verdict { $0["exp"] = 1_699_999_941 } == nil)
        #expect(try verdict { $0["exp"] = 1_699_999_940 } == .expired)
        #expect(try verdict(rules(skew: .zero)) { $0["exp"] = 1_700_000_000 } == .expired)
        #expect(try verdict { $0["exp"] = 1e300 } == nil)
        #expect(try verdict { $0["exp"] = -1e300 } == .expired)
    }

    @Test func `issued more than ten minutes from now is refused at a login`() throws {
        #expect(try verdict { $0["iat"] = 1_699_999_400 } == nil)
        #expect(try verdict { $0["iat"] = 1_700_000_600 } == nil)
        #expect(try verdict { $0["iat"] = 1_699_999_399 } == .issuedAtTooFarFromNow)
        #expect(try verdict { $0["iat"] = 1_700_000_601 } == .issuedAtTooFarFromNow)
        #expect(try verdict(rules(.refresh(previous: nil))) { $0["iat"] = 1_600_000_000 } == nil)
    }

    @Test func `must repeat the nonce of its login`() throws {
        #expect(try verdict { $0["nonce"] = "n2" } == .nonceMismatch)
        #expect(try verdict { $0["nonce"] = nil } == .nonceMismatch)
        #expect(try verdict(rules(.login(nonce: nil))) { $0["nonce"] = nil } == nil)
    }

    @Test func `of a login with max_age says that the person proved themselves not longer ago`() throws {
        let asking = rules(parameters: [NamedValue("max_age", "300")])
        #expect(try verdict(asking) { $0["auth_time"] = 1_699_999_700 } == nil)
        #expect(try verdict(asking) { $0["auth_time"] = 1_699_999_640 } == nil, "the clocks may differ")
        #expect(try verdict(asking) { $0["auth_time"] = 1_699_999_639 } == .authenticatedTooLongAgo)
        #expect(try verdict(asking) { _ in } == .authenticatedTooLongAgo)
        #expect(try verdict(asking) { $0["auth_time"] = "1699999900" } == .authenticatedTooLongAgo)
        #expect(try verdict { $0["auth_time"] = 1 } == nil, "nobody asked")
        let atOnce = rules(parameters: [NamedValue("max_age", "0")])
        #expect(try verdict(atOnce) { $0["auth_time"] = 1_700_000_000 } == nil)
        let odd = rules(parameters: [NamedValue("max_age", "9223372036854775807")])
        #expect(try verdict(odd) { $0["auth_time"] = -1e300 } == nil, "no number overflows")
        let word = rules(parameters: [NamedValue("max_age", "300s")])
        #expect(try verdict(word) { $0["auth_time"] = 1_700_000_000 } == .authenticatedTooLongAgo)
        let refresh = rules(.refresh(previous: nil), parameters: [NamedValue("max_age", "300")])
        #expect(
            try verdict(refresh) { $0["auth_time"] = 1_690_000_000 } == nil, "that was the login's affair")
    }

    @Test func `of a login with acr_values has none but these`() throws {
        let asking = rules(parameters: [NamedValue("acr_values", "gold silver")])
        #expect(try verdict(asking) { $0["acr"] = "silver" } == nil)
        #expect(try verdict(asking) { _ in } == nil, "a server that knows no contexts")
        #expect(try verdict(asking) { $0["acr"] = "0" } == .contextMismatch)
        #expect(try verdict { $0["acr"] = "0" } == nil, "nobody asked")
    }

    @Test func `must fit the access token beside it`() throws {
        // The left half of SHA-256 of "at1"; the last case has half of another one.
        let hash = Base64URL.encode(Array(SHA256.digest(Array("at1".utf8)).prefix(16)))
        #expect(try verdict { $0["at_hash"] = .string(hash) } == nil)
        #expect(try verdict { $0["at_hash"] = "AAAA" } == .accessTokenMismatch)
        #expect(
            try verdict(rules(accessToken: "at2")) { $0["at_hash"] = .string(hash) } == .accessTokenMismatch)
    }

    @Test func `of a refresh is of the same person, server and client`() throws {
        let previous = try token(claims())
        let refresh = rules(.refresh(previous: previous), issuer: nil)
        #expect(try verdict(refresh) { _ in } == nil)
        #expect(try verdict(refresh) { $0["nonce"] = nil } == nil)
        #expect(try verdict(refresh) { $0["sub"] = "bob" } == .subjectChanged)
        #expect(try verdict(refresh) { $0["iss"] = "https://other.example" } == .sessionChanged("iss"))
        #expect(try verdict(refresh) { $0["nonce"] = "n2" } == .sessionChanged("nonce"))
        #expect(try verdict(refresh) { $0["aud"] = "other" } == .audienceMismatch)
    }

    /// By OpenID Connect Core §12.2 it is the first one that counts.
    @Test func `of a refresh is compared with the login's, whatever others have said since`() throws {
        let login = LoginClaims(try token(claims()))
        func verdict(
            after change: (inout JSONObject) -> Void, _ next: (inout JSONObject) -> Void
        ) throws -> IDTokenError? {
            let previous = try token(claims(change))
            return try self.verdict(rules(.refresh(previous: previous, login: login)), next)
        }
        #expect(try verdict(after: { $0["nonce"] = nil }) { _ in } == nil)
        #expect(
            try verdict(after: { $0["nonce"] = nil }) { $0["nonce"] = "n2" } == .sessionChanged("nonce"))
        let wider: (inout JSONObject) -> Void = {
            $0["aud"] = ["app", "x"]
            $0["azp"] = "app"
        }
        #expect(try verdict(after: wider) { _ in } == nil)
        #expect(try verdict(after: { _ in }, wider) == nil)
        #expect(LoginClaims(login.json) == login)
    }

    @Test(arguments: [
        "", ".", "..", "a.b.c", "e30.e30.", "eyJhbGciOiJSUzI1NiJ9.W10.AA", "eyJhbGciOiJSUzI1NiJ9.bnVsbA.AA",
        "eyJhbGciOiJSUzI1NiJ9.!.AA", "eyJhbGciOiJSUzI1NiJ9.e30", "eyJhbGciOiJSUzI1NiJ9.e30.AA.AA.AA",
    ])
    func `that is no signed JSON is refused`(text: String) {
        #expect(throws: IDTokenError.malformed) { try IDToken(parsing: Secret(text)) }
    }
}
