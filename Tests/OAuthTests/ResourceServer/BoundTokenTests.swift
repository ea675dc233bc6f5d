// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON
import Testing

@testable import OAuth

/// Tokens that are bound to a key or certificate (RFC 9449, RFC 8705), as a resource server judges them.
@Suite struct `A bound access token` {
    @Test func `is accepted with the proof of its key, once`() async throws {
        let harness = try ResourceServerHarness()
        let token = try harness.boundToken()
        let request = harness.request("DPoP \(token)", proofs: [try harness.proof(token)])
        #expect(await harness.verdict(request) == nil)
        #expect(await harness.verdict(request) == .invalidProof(.repeated))
        let second = harness.request("dpop \(token)", proofs: [try harness.proof(token, as: "p2")])
        #expect(await harness.verdict(second) == nil)
    }

    @Test func `is nothing as a bearer token, and a bearer token nothing with a proof`() async throws {
        let harness = try ResourceServerHarness()
        let bound = try harness.boundToken()
        #expect(await harness.verdict(harness.request("Bearer \(bound)")) == .invalidToken(.binding))
        let plain = try harness.token()
        let request = harness.request("DPoP \(plain)", proofs: [try harness.proof(plain)])
        #expect(await harness.verdict(request) == .invalidToken(.binding))
        let strict = try ResourceServerHarness { $0.senderConstraint = .always }
        let unbound = strict.request("Bearer \(try strict.token())")
        #expect(await strict.verdict(unbound) == .invalidToken(.binding))
    }

    @Test func `needs a proof for this very request`() async throws {
        let harness = try ResourceServerHarness()
        let token = try harness.boundToken()
        let wrong: [(AccessTokenError, [String])] = [
            (.invalidProof(.count), []),
            (.invalidProof(.count), [try harness.proof(token), try harness.proof(token, as: "p2")]),
            (.invalidProof(.malformed), ["a.b.c"]),
            (.invalidProof(.malformed), [token]),
            (.invalidProof(.malformed), [try harness.proof(token, as: "")]),
            (.invalidProof(.malformed), [try harness.proof(token, as: String(repeating: "x", count: 257))]),
            (.invalidProof(.request), [try harness.proof(token, method: "POST")]),
            (.invalidProof(.request), [try harness.proof(token, url: "https://api.example/orders/")]),
            (.invalidProof(.request), [try harness.proof(token, url: "http://api.example/orders")]),
            (.invalidProof(.request), [try harness.proof(token, url: "https://api.example:8443/orders")]),
            (.invalidProof(.token), [try harness.proof("another")]),
            (.invalidProof(.age), [try harness.proof(token, at: -61)]),
            (.invalidProof(.age), [try harness.proof(token, at: 61)]),
            (.invalidToken(.binding), [try harness.proof(token, signedBy: .generate(for: .es256))]),
        ]
        for (error, proofs) in wrong {
            #expect(await harness.verdict(harness.request("DPoP \(token)", proofs: proofs)) == error)
        }
        let challenge = AccessTokenError.invalidProof(.age).challenge()
        #expect(challenge?.hasPrefix(#"DPoP error="invalid_dpop_proof""#) == true)
        #expect(challenge?.contains(#"algs="ES256 EdDSA PS256 RS256""#) == true)
    }

    @Test func `has a proof that is signed by the key it shows`() async throws {
        let harness = try ResourceServerHarness()
        let token = try harness.boundToken()
        let proof = try harness.proof(token).split(separator: ".").map(String.init)
        let other = try harness.proof(token, as: "p2").split(separator: ".").map(String.init)
        let mixed = [proof[0], other[1], proof[2]].joined(separator: ".")
        let request = harness.request("DPoP \(token)", proofs: [mixed])
        #expect(await harness.verdict(request) == .invalidProof(.signature))
    }

    @Test func `shows no private key`() async throws {
        let harness = try ResourceServerHarness()
        let token = try harness.boundToken()
        let whole = try #require(
            harness.proofKey.privateJWK.withPlaintext { try? JSONObject(parsing: Array($0.utf8)) })
        let header: JSONObject = ["typ": "dpop+jwt", "alg": "ES256", "jwk": .object(whole)]
        let payload = try #require(JWS(compact: harness.proof(token)).claims)
        let proof = try harness.proofKey.sign(
            payload.serialized(), under: Base64URL.encode(header.serialized()))
        let request = harness.request("DPoP \(token)", proofs: [proof])
        #expect(await harness.verdict(request) == .invalidProof(.malformed))
    }

    @Test func `may be bound to a certificate, and to nothing else`() async throws {
        let harness = try ResourceServerHarness()
        var request = harness.request("Bearer \(try harness.token { $0["cnf"] = ["x5t#S256": "thumb"] })")
        #expect(await harness.verdict(request) == .invalidToken(.binding))
        request.certificateThumbprint = "other"
        #expect(await harness.verdict(request) == .invalidToken(.binding))
        request.certificateThumbprint = "thumb"
        #expect(await harness.verdict(request) == nil)
        for odd: JSONValue in ["key", ["kid": "k"], ["jkt": "a", "x5t#S256": "thumb"], [:], .null] {
            var request = harness.request("Bearer \(try harness.token { $0["cnf"] = odd })")
            request.certificateThumbprint = "thumb"
            #expect(await harness.verdict(request) == .invalidToken(.binding))
        }
    }

    // MARK: Remembering

    @Test func `is refused rather than accepted twice when one key shows too many proofs`() async throws {
        let harness = try ResourceServerHarness(remembering: 4)
        let token = try harness.boundToken()
        func show(_ identifier: String) async throws -> AccessTokenError? {
            await harness.verdict(
                harness.request("DPoP \(token)", proofs: [try harness.proof(token, as: identifier)]))
        }
        #expect(try await show("a") == nil)
        #expect(try await show("b") == nil)
        guard case .unavailable = try await show("c") else {
            Issue.record("a proof was accepted that could not be remembered")
            return
        }
        #expect(try await show("a") == .invalidProof(.repeated))
    }

    @Test func `leaves room for other subjects, whatever its keys, and its proofs are forgotten in time`() {
        var seen = SeenProofs(capacity: 64)
        let now = ContinuousClock.now
        func show(
            _ index: Int, of key: String, by subject: String, at now: Instant = now
        ) -> SeenProofs.Verdict {
            seen.show("\(index)", of: key, by: subject, at: now, keepingFor: .seconds(120))
        }
        for index in 0..<100 {
            let verdict = show(index, of: "key \(index % 9)", by: "greedy")
            #expect(verdict == (index < 32 ? .new : .full))
        }
        #expect(show(0, of: "a key", by: "modest") == .new)
        #expect(show(0, of: "a key", by: "modest") == .repeated)
        for other in 0..<7 {
            for index in 0..<4 { _ = show(index, of: "key \(other)", by: "other \(other)") }
        }
        #expect(show(1, of: "a key", by: "modest") == .new)
        for round in 1..<400 {
            #expect(show(0, of: "a key", by: "modest", at: now + .seconds(121 * round)) == .new)
        }
    }
}
