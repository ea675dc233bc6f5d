// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdHTTPMessages
import OAuth
import OAuthRuntime
import Synchronization
import BearerdSystem

/// An identity under examination: its provider is asked once, whoever of the checks wants to know.
final class ExaminedIdentity: Sendable {
    let configuration: IdentityConfiguration
    let way: Transport
    private let transport: ObservedTransport
    private let metadata = Mutex<Result<ServiceConfiguration, TokenFailure>?>(nil)

    var name: String { configuration.name }
    var client: ClientConfiguration { configuration.client }

    init(_ configuration: IdentityConfiguration, over way: Transport, client: TransferClient) {
        self.configuration = configuration
        self.way = way
        transport = ObservedTransport(ProviderTransport(client: client, transport: way))
    }

    /// The address of a key of its section.
    func key(_ key: String) -> String { "identities.\(name).\(key)" }

    /// Whether the provider is to be found out about, or all its endpoints are given by hand.
    var isDiscovered: Bool { client.issuer != nil || client.discoveryURL != nil }

    /// Where the provider is.
    var url: HTTPURL? {
        if let source = client.source { return source.isNearby ? nil : source.server }
        return client.discoveryURL ?? client.issuer.flatMap(HTTPURL.init) ?? client.endpoints[.token]
            ?? client.endpoints.values.first
    }

    /// What the provider says of itself.
    func discovered() async -> Result<ServiceConfiguration, TokenFailure> {
        if let known = metadata.withLock({ $0 }) { return known }
        let found: Result<ServiceConfiguration, TokenFailure>
        do throws(TokenFailure) {
            found = .success(try await ServiceConfiguration.discover(for: client, over: transport))
        } catch {
            found = .failure(error)
        }
        metadata.withLock { $0 = found }
        return found
    }

    /// A member of the metadata, once they are known.
    func document() async -> ServiceConfiguration? { try? await discovered().get() }

    /// An endpoint as configured, else as discovered.
    func endpoint(_ endpoint: Endpoint) async -> HTTPURL? {
        if let url = client.endpoints[endpoint] { return url }
        return await isDiscovered ? document()?.endpoints[endpoint] : nil
    }

    /// Asks for a resource of the provider's, which changes nothing there.
    func get(_ url: HTTPURL) async throws(TransportError) -> TransportResponse {
        try await transport.send(TransferRequest(method: .get, url: url, timeLimit: client.tokenTimeLimit))
    }

    /// How far the provider's clock is ahead of ours, as its last answer tells; nil if it tells nothing.
    var clockOffset: Duration? { transport.offset }
}

/// A transport that keeps what answers say of the time.
private final class ObservedTransport: TokenTransport {
    private let transport: ProviderTransport
    private let last = Mutex<Duration?>(nil)

    init(_ transport: ProviderTransport) {
        self.transport = transport
    }

    var offset: Duration? { last.withLock { $0 } }

    func send(_ request: TransferRequest) async throws(TransportError) -> TransportResponse {
        let response = try await transport.send(request)
        if let date = response.fields[.date].flatMap(WallTime.init(httpDate:)) {
            last.withLock { $0 = date.sinceEpoch - WallClock.sinceEpoch }
        }
        return response
    }
}
