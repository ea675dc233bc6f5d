// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// Nonces that servers want to see in proofs (RFC 9449 sections 8 and 9).
@Suite(.blocking) struct `A nonce for proofs` {
    @Test func `is kept from every answer, those that go well too`() throws {
        let site = try BoundSite(
            server: ProofJudge(nonce: "as-1", rotates: true),
            resource: ProofJudge(nonce: "rs-1", rotates: true))
        for _ in 0..<5 { #expect(try site.sidecar.get().status == 200) }
        for _ in 0..<3 { #expect(try site.sidecar.act("refresh").status == 200) }
        #expect(site.faults == [])
        #expect(site.resource.challenges == 1 && site.upstream.requests.count == 6)
        #expect(site.server.challenges == 1 && site.provider.requests.count == 5)
    }

    @Test func `that the upstream wants marks no error and spends no token`() throws {
        let site = try BoundSite()
        #expect(try site.sidecar.get().status == 200)
        site.resource.want("rs-1")
        #expect(try site.sidecar.client().request("POST", "/", body: "content").text == "content")
        #expect(site.faults == [] && site.upstream.requests.count == 3 && site.provider.requests.count == 1)
        #expect(try site.sidecar.state() == "authorized")
        #expect(
            try site.sidecar.metrics().series.filter {
                $0.key.hasPrefix("bearerd_authorization_errors_total") && $0.value > 0
            }.isEmpty)
    }

    @Test func `is wanted by DPoP's challenge alone, whatever another one says beside it`() throws {
        for challenges in [#"Bearer realm="api", error="invalid_token", "#, "Basic realm=x, Bearer, "] {
            let site = try BoundSite(resource: ProofJudge(nonce: "rs-1"), challenges: challenges)
            #expect(try site.sidecar.get().status == 200, "\(challenges)")
            #expect(site.provider.requests.count == 1 && site.faults == [])
            #expect(try site.sidecar.state() == "authorized")
        }
    }

    @Test(arguments: [400, 401])
    func `is told by the provider with either status, and each assertion is used once`(status: Int) throws {
        let key = try TestKeyPair("ES256")
        let provider = try HostileProvider()
        let judge = ProofJudge(nonce: "as-1")
        provider.always { request, provider in
            switch judge.judge(request.message, at: provider.tokenEndpoint) {
            case .good(let key): return provider.boundTokens(to: key, judge)
            case .nonceWanted, .bad:
                return .response(
                    status, [("Content-Type", "application/json")] + judge.answerFields,
                    #"{"error":"use_dpop_nonce"}"#)
            }
        }
        let sidecar = try Sidecar(
            provider: provider,
            .init(
                identity: "dpop: true\nprivate_key_file: \(key.privateKeyFile)", grant: "jwt_bearer"))
        #expect(try sidecar.get().status == 200)
        let identifiers = try provider.requests.map { request in
            try #require(try key.verify(request["assertion"] ?? "")).claims["jti"].string
        }
        #expect(identifiers.count == 2 && Set(identifiers).count == 2 && judge.faults == [])
    }

    @Test func `that changes with each refusal is tried once a request, and the refusal passes`() throws {
        let site = try BoundSite()
        #expect(try site.sidecar.get().status == 200)
        let count = Monitor(0)
        site.upstream.answer { _ in
            let number = count.withLock { count in
                count += 1
                return count
            }
            return .response(
                401,
                [("WWW-Authenticate", #"DPoP error="use_dpop_nonce""#), ("DPoP-Nonce", "nonce-\(number)")])
        }
        for _ in 0..<3 { #expect(try site.sidecar.get().status == 401) }
        #expect(count.withLock { $0 } == 6 && site.provider.requests.count == 1)
        #expect(try site.sidecar.state() == "authorized")
        let nonces = site.upstream.requests.dropFirst().map {
            TestToken($0["DPoP"] ?? "")?.claims["nonce"].string
        }
        #expect(nonces == [nil, "nonce-1", "nonce-2", "nonce-3", "nonce-4", "nonce-5"], "each from the last")
    }

    @Test func `for a body that was not kept passes as a 401, and the next request has it`() throws {
        let site = try BoundSite(route: "replay_buffer: 1KiB")
        #expect(try site.sidecar.get().status == 200)
        site.resource.want("rs-1")
        let body = String(repeating: "x", count: 100_000)
        let refused = try site.sidecar.client().request("POST", "/", body: body)
        #expect(refused.status == 401 && refused["DPoP-Nonce"] == "rs-1")
        #expect(try site.sidecar.client().request("POST", "/", body: body).text == body)
        #expect(site.resource.challenges == 1 && site.provider.requests.count == 1 && site.faults == [])
        #expect(try site.sidecar.state() == "authorized")
    }

    @Test func `of the provider is not shown to the upstream, nor the other way round`() throws {
        let site = try BoundSite(server: ProofJudge(nonce: "as-1"), resource: ProofJudge(nonce: "rs-1"))
        #expect(try site.sidecar.get().status == 200)
        #expect(try site.sidecar.act("refresh").status == 200)
        #expect(site.faults == [])
        #expect(site.server.proofs.map { $0.claims["nonce"].string } == [nil, "as-1", "as-1"])
        #expect(site.resource.proofs.map { $0.claims["nonce"].string } == [nil, "rs-1"])
    }

    @Test func `that the provider never accepts is a failure to try again, not a final answer`() throws {
        let site = try BoundSite()
        #expect(try site.sidecar.get().status == 200)
        let number = Monitor(0)
        site.provider.always { _, _ in
            let next = number.withLock { number in
                number += 1
                return number
            }
            return .response(
                400, [("Content-Type", "application/json"), ("DPoP-Nonce", "n-\(next)")],
                #"{"error":"use_dpop_nonce"}"#)
        }
        try site.sidecar.act("refresh")
        #expect(number.withLock { $0 } >= 2)
        #expect(try site.sidecar.get().status == 200, "the token that there is")
        site.provider.demandProofs(site.server)
        try eventually("the next try") { try site.sidecar.lastError() == nil }
    }
}
