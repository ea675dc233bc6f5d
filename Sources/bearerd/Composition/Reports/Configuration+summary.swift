// SPDX-License-Identifier: Apache-2.0

import BearerdAdmin
import BearerdAdminAPI
import BearerdConfiguration
import BearerdHTTPMessages
import BearerdObservability
import BearerdRouting
import BearerdSystem
import OAuth

extension Configuration {
    /// The routes' statuses without figures, for `status` without a daemon.
    var routeStatuses: [RouteStatus] {
        routesByIdentity.map {
            RouteStatus(
                $0.key.scope, upstream: "\($0.upstream)", upstreamProtocol: $0.upstreamProtocol.rawValue,
                identity: $0.identity)
        }
    }

    /// The routes as the admin listener shows them.
    var adminRoutes: [AdminRoute] {
        routesByIdentity.map { route in
            let client = route.identity.flatMap(identity(named:))?.client
            return AdminRoute(
                route.key.scope, upstream: "\(route.upstream)",
                upstreamProtocol: route.upstreamProtocol.rawValue, identity: route.identity,
                target: client.map { (route.target.map($0.aimed) ?? $0).target })
        }
    }

    /// The facts of each identity's client that the admin listener shows.
    var clientFacts: [String: ClientFacts] {
        let facts = identities.map { identity -> (String, ClientFacts) in
            let client = identity.client
            let endpoint = client.endpoints[.token]
            return (
                identity.name,
                ClientFacts(
                    server: client.source?.description ?? client.issuer ?? endpoint?.description,
                    serverName: client.issuer.flatMap { HTTPURL($0) }?.host ?? endpoint?.host,
                    clientID: client.clientID, grant: client.grantType.rawValue,
                    needsPerson: client.grantType.needsPerson, source: client.source?.name)
            )
        }
        return Dictionary(facts) { first, _ in first }
    }

    /// The hosts of `access.hosts`; empty if it is not set.
    var allowedHosts: [String] { access.hosts?.map(\.description) ?? [] }

    /// A sentence for each protection that the configuration turns off.
    var protectionsTurnedOff: [String] {
        var sentences: [String] = []
        if development.isOn { sentences.append("The development servers are on.") }
        for identity in identities where identity.transport.skipsVerification {
            sentences.append("The provider of \(identity.name) is not verified (insecure_skip_verify).")
        }
        return sentences
    }
}

extension LogConfiguration {
    /// The configured format; without one, text on a terminal and else JSON.
    var effectiveFormat: LogFormat {
        let chosen = format ?? (CurrentProcess.isTerminal(2) ? .text : .json)
        return chosen == .text && TerminalText.isColoured(on: 2) ? .colouredText : chosen
    }
}
