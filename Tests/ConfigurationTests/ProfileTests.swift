// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import OAuth
import Testing

/// `dpop`, `par` and `profile: fapi2`.
@Suite struct `Profiles of security` {
    /// A key of the client's, in a file.
    private func key(in directory: TemporaryDirectory) throws -> String {
        try directory.file("key.jwk", ProofKey.generate(for: .es256).privateJWK.plaintext)
    }

    private func client(_ lines: String...) throws -> ClientConfiguration {
        let report = report(withIdentity(lines.joined(separator: "\n")))
        #expect(report.problems.filter { $0.severity == .error }.isEmpty)
        return try #require(report.configuration?.identities.first).client
    }

    private func reasons(_ lines: [String]) -> [String] {
        report(withIdentity(lines.joined(separator: "\n"))).problems.filter { $0.severity == .error }.map(
            \.reason)
    }

    @Test func `dpop and par say whether, or leave it to the provider`() throws {
        #expect(try client().proofs == .never && client().pushedRequests == .whereRequired)
        #expect(try client("dpop: true", "par: true").proofs == .always)
        #expect(try client("dpop: auto", "par: false").proofs == .whereOffered)
        #expect(try client("par: false").pushedRequests == .never)
        #expect(reasons(["dpop: maybe"]) == ["expected true, false or auto, found 'maybe'"])
        #expect(reasons(["profile: fapi3"]).count == 1)
    }

    @Test func `fapi2 gives what is not set its own values`() throws {
        let directory = try TemporaryDirectory()
        let key = try key(in: directory)
        let client = try client("profile: fapi2", "private_key_file: \(key)")
        #expect(client.proofs == .always && client.pushedRequests == .always)
        #expect(client.authentication == .privateKeyJWT && client.assertion.audience == .issuer)
        #expect(client.profile == .fapi2)
    }

    @Test(arguments: [
        "dpop: false", "dpop: auto", "par: auto", "par: false", "signing_alg: RS256",
        "assertion_audience: token_endpoint", "accept_token_types: [x]", "insecure_skip_verify: true",
        "allow_insecure_provider: true",
    ])
    func `fapi2 refuses a key that says otherwise, and names the rule`(line: String) throws {
        let directory = try TemporaryDirectory()
        let key = try key(in: directory)
        let found = reasons(["profile: fapi2", "private_key_file: \(key)", line])
        #expect(
            found.contains { $0.hasPrefix("profile fapi2:") && $0.contains("FAPI 2.0 section") }, "\(found)")
    }

    @Test func `fapi2 takes no secret, no public client and no other grant`() throws {
        #expect(reasons(["profile: fapi2"]).contains { $0.contains("private_key_jwt or a certificate") })
        #expect(
            reasons(["profile: fapi2", "client_secret: fake"]).contains {
                $0.contains("private_key_jwt or a certificate")
            })
        let text = withIdentity("profile: fapi2").replacing("authorization_code", with: "device_code")
        #expect(report(text).problems.map(\.reason).contains { $0.contains("the grants are") })
    }

    @Test func `fapi2 must know the issuer, against which it holds all that it is told`() throws {
        let directory = try TemporaryDirectory()
        let key = try key(in: directory)
        func reasons(_ place: String, _ grant: String) -> [String] {
            report(
                """
                identities:
                  default:
                    profile: fapi2
                    client_id: app
                    private_key_file: \(key)
                    grant_type: \(grant)
                    \(place)
                """
            ).problems.filter { $0.severity == .error }.map(\.reason)
        }
        for grant in ["client_credentials", "authorization_code"] {
            #expect(
                reasons("token_endpoint: https://a.example/t", grant).contains {
                    $0.contains("the issuer must be known")
                }, "\(grant)")
            for place in ["issuer: https://a.example", "discovery_url: https://a.example/d"] {
                #expect(!reasons(place, grant).contains { $0.contains("issuer") }, "\(place)")
            }
        }
    }
}
