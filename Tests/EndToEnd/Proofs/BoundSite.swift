// SPDX-License-Identifier: Apache-2.0

import BearerdTestSupport
import Testing

/// A sidecar whose provider and upstream take nothing without a proof of possession.
final class BoundSite: Sendable {
    let server: ProofJudge
    let resource: ProofJudge
    let provider: HostileProvider
    let upstream: RawUpstream
    let directory: TemporaryDirectory
    let sidecar: Sidecar

    /// - Parameters:
    ///   - identity: lines beside `dpop`.
    ///   - top: lines at the top level.
    ///   - challenges: what the upstream's challenges have before DPoP's.
    init(
        server: ProofJudge = ProofJudge(), resource: ProofJudge = ProofJudge(), dpop: String = "true",
        identity: String = "", route: String = "", grant: String = "client_credentials",
        challenges: String = "", top: String = "", moreRoutes: String = "", store: String? = nil
    ) throws {
        self.server = server
        self.resource = resource
        let provider = try HostileProvider()
        provider.discovery { _, provider in
            provider.discoveryDocument(
                members: #"""
                    ,"userinfo_endpoint":"\#(provider.issuer)/userinfo","dpop_signing_alg_values_supported":["ES256"]
                    """#)
        }
        provider.demandProofs(server)
        self.provider = provider
        upstream = try RawUpstream(answer: provider.resource(resource, before: challenges))
        directory = try TemporaryDirectory()
        sidecar = try Sidecar(
            provider: provider, upstream: upstream, directory: directory,
            .init(
                top: top, identity: "dpop: \(dpop)\n\(identity)", route: route, moreRoutes: moreRoutes,
                store: store, grant: grant))
    }

    /// Has the daemon take a configuration over that has no `dpop`.
    func reloadWithoutProofs(identity: String = "", grant: String = "client_credentials") throws {
        try Sidecar.file(
            provider: provider, upstream: upstream.url, clientSecret: sidecar.clientSecret,
            directory: directory, .init(identity: identity, grant: grant))
        let answer = try sidecar.admin("POST", "/api/reload", [("X-Bearerd-Admin", "1")])
        try #require(answer.status == 200, "\(answer.text)")
    }

    /// The thumbprints of the keys that were proved to the provider.
    var keys: Set<String> { Set(provider.bindings.withLock { $0.values }) }

    /// Why a proof was refused anywhere, but for its nonce.
    var faults: [String] { server.faults + resource.faults }
}
