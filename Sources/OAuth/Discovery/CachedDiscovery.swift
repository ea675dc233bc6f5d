// SPDX-License-Identifier: Apache-2.0

/// The last metadata that could be fetched of an authorization server.
///
/// Confined to its session.
final class CachedDiscovery {
    /// Metadata are fetched again after this.
    private static let goodFor: Duration = .seconds(3600)
    /// A failed fetch is repeated after this.
    private static let lookAgainAfter: Duration = .seconds(300)

    private let discovery: ServiceDiscovery
    private let clock: any SessionClock
    private var last: ServiceConfiguration?
    /// True if `last` has the members of all documents.
    private var isComplete = false
    /// True after a response that suggests outdated metadata: the next use fetches them again.
    private var isDoubted = false

    /// When `last` is fetched again in any case.
    private var nextLook: Instant
    /// When the last fetch began, whatever its result.
    private var lastLook: Instant?

    init(_ discovery: ServiceDiscovery, clock: any SessionClock) {
        self.discovery = discovery
        self.clock = clock
        nextLook = clock.now
    }

    /// Has the next use fetch the metadata again, unless the last fetch began less than `age` ago.
    func doubt(ifOlderThan age: Duration = .zero) {
        guard let lastLook, clock.now >= lastLook + age else { return }
        isDoubted = true
    }

    /// The server's metadata, fetched if there are none or they are doubted or old; the last good ones if that fails.
    ///
    /// - Parameters:
    ///   - endpoint: the endpoint that is needed; nil for the members of all documents.
    ///   - age: the largest age of the last fetch; nil for the usual one.
    /// - Throws: ``TokenFailure`` if there never were any.
    func metadata(
        wanting endpoint: Endpoint?, newerThan age: Duration? = nil
    ) async throws(TokenFailure) -> ServiceConfiguration {
        let isOld = age.map { age in lastLook.map { clock.now >= $0 + age } ?? true } ?? false
        if let last, !isDoubted, !isOld, clock.now < nextLook,
            isComplete || endpoint.map({ last.endpoints[$0] != nil }) ?? false
        {
            return last
        }
        lastLook = clock.now
        do throws(TokenFailure) {
            let found = try await discovery.discover(wanting: endpoint, at: clock.wallNow)
            last = found.service
            isComplete = found.isComplete
            isDoubted = false
            nextLook = clock.now + Self.goodFor
            return found.service
        } catch {
            guard let last else { throw error }
            isDoubted = false
            nextLook = clock.now + Self.lookAgainAfter
            return last
        }
    }
}
