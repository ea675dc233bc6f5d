// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdSystem
import OAuth
import OAuthRuntime
import Synchronization

/// An identity under examination; its provider's metadata is fetched once for all checks.
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

    /// The path of a configuration key in the identity's section.
    func key(_ key: String) -> String { "identities.\(name).\(key)" }

    /// True if the metadata is discovered; false if all endpoints are configured.
    var isDiscovered: Bool { client.issuer != nil || client.discoveryURL != nil }

    /// A URL of the provider.
    var url: HTTPURL? {
        if let source = client.source { return source.server }
        return client.discoveryURL ?? client.issuer.flatMap(HTTPURL.init) ?? client.endpoints[.token]
            ?? client.endpoints.values.first
    }

    /// The remedy for an address to which nothing leads.
    var addressKey: String { client.source == nil ? key("issuer") : sourceFix }

    /// Why there is nothing to connect to.
    var withoutAddress: String {
        client.source.map { "source: \($0.name.rawValue) asks no server" }
            ?? "the provider has no address yet"
    }

    /// Discovers the provider's metadata.
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

    /// The metadata; nil if it could not be discovered.
    func document() async -> ServiceConfiguration? { try? await discovered().get() }

    /// An endpoint as configured, or else as discovered.
    func endpoint(_ endpoint: Endpoint) async -> HTTPURL? {
        if let url = client.endpoints[endpoint] { return url }
        return await isDiscovered ? document()?.endpoints[endpoint] : nil
    }

    /// Fetches a resource of the provider with GET.
    func get(_ url: HTTPURL) async throws(TransportError) -> TransportResponse {
        try await transport.send(TransferRequest(method: .get, url: url, timeLimit: client.tokenTimeLimit))
    }

    /// How far the provider's clock is ahead of ours according to its last response; nil if that has no
    /// `Date`.
    var clockOffset: Duration? { transport.offset }
}

/// A transport that remembers the clock offset in responses.
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
