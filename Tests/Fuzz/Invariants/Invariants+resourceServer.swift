// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

@testable import OAuth

extension Invariants {
    /// What is wrong with how a resource server judges a request; nil if nothing is.
    ///
    /// The input is a value of `Authorization` a line; the lines after an empty one are proofs. No key is known, so that
    /// nothing may be accepted.
    package static func violation(resourceRequest bytes: [UInt8]) -> String? {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { String(decoding: $0, as: UTF8.self) }
        let fields = lines.prefix { !$0.isEmpty }
        var request = ResourceRequest(
            method: "GET", url: "https://api.example/orders", authorization: Array(fields))
        request.proofs = Array(lines.dropFirst(fields.count + 1))
        let rules = AccessTokenRules(issuer: "https://sso.example", audience: "https://api.example")
        let wall = WallTime(secondsSinceEpoch: 1_700_000_000)
        do throws(AccessTokenError) {
            let credentials = try request.credentials()
            if credentials.token.utf8.contains(where: { !(0x21...0x7E ~= $0) }) {
                return "a token no header may hold"
            }
            let proofs = DPoPProofRules(algorithms: AccessTokenVerifier.proofAlgorithms, window: .seconds(60))
            if (try? proofs.check(request, token: credentials.token, boundTo: "nobody", at: wall)) != nil {
                return "a proof of a key that nobody has"
            }
            guard let token = try? JWS(compact: credentials.token) else { return nil }
            let verified = try rules.check(token, at: wall)
            guard JWSAlgorithm.asymmetric.contains(token.algorithm) else {
                return "a signature that needs no key"
            }
            return verified.issuer == rules.issuer && !rules.audience.isDisjoint(with: verified.audience)
                ? nil : "a token of another issuer or audience"
        } catch {
            let challenge = error.challenge() ?? ""
            return "\(error)".isEmpty || challenge.utf8.contains { !(0x20...0x7E ~= $0) }
                ? "words no header may hold" : nil
        }
    }
}
