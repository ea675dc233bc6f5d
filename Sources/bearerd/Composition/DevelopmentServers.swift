// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdCryptography
import BearerdDevelopmentProvider
import BearerdHTTPMessages
import BearerdHTTPServer
import BearerdSystem
import OAuth

/// The embedded provider and sample API on their loopback addresses.
struct DevelopmentServers {
    /// A server, with its name in the log and what it speaks beside HTTP/1.1.
    struct Server {
        let name: String
        let listener: BoundListener
        let responder: any HTTPResponder
        var other: (any OtherProtocol)?
    }

    private(set) var all: [Server] = []
    private var provider: (server: DevelopmentProvider, origin: HTTPURL)?

    /// Makes the configured servers; the API trusts only the embedded provider.
    ///
    /// - Throws: ``CommandFailure``, `CryptoError`.
    init(_ configuration: Configuration, on sockets: DaemonSockets) throws {
        let wall: @Sendable () -> WallTime = { WallTime(sinceEpoch: WallClock.sinceEpoch) }
        var trusted: [TrustedIssuer] = []
        if let listener = sockets.developmentProvider {
            let origin = try Self.origin(of: listener)
            let provider = try DevelopmentProvider(
                ProviderSettings(origin: origin, clients: Self.clients(of: configuration, at: origin)),
                wallNow: wall)
            self.provider = (provider, origin)
            trusted.append(provider.trust)
            all.append(Server(name: "development_provider", listener: listener, responder: provider))
        }
        if let listener = sockets.developmentAPI {
            let api = SampleAPI(trusting: trusted, wallNow: wall)
            all.append(
                Server(
                    name: "development_api", listener: listener, responder: api, other: HealthService(api)))
        }
    }

    /// The clients of another configuration for the provider.
    func clients(of configuration: Configuration) -> [DevelopmentClient] {
        provider.map { Self.clients(of: configuration, at: $0.origin) } ?? []
    }

    /// Replaces the provider's clients.
    func use(_ clients: [DevelopmentClient]) { provider?.server.use(clients) }

    /// The identities that use this provider, as its clients.
    private static func clients(of configuration: Configuration, at origin: HTTPURL) -> [DevelopmentClient] {
        configuration.identities.compactMap { identity in
            guard identity.client.issuer == origin.description else { return nil }
            return DevelopmentClient(
                id: identity.client.clientID, secret: try? identity.clientSecret?.read(),
                redirectURIs: DevelopmentClient.standardRedirectURIs + [identity.redirectURI.registered])
        }
    }

    private static func origin(of listener: BoundListener) throws -> HTTPURL {
        guard let origin = HTTPURL("http://\(listener.address)") else {
            throw CommandFailure(.unavailable, "\(listener.address) is no origin")
        }
        return origin
    }
}
