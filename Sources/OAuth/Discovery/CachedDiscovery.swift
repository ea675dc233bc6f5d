// SPDX-License-Identifier: Apache-2.0

/// The last metadata that could be had of an authorization server.
///
/// Confined to its session.
final class CachedDiscovery {
    /// A provider that moves is found by then, even if its old place never says so.
    private static let goodFor: Duration = .seconds(3600)
    /// When what is kept is looked at again after that could not be done.
    private static let lookAgainAfter: Duration = .seconds(300)

    private let discovery: ServiceDiscovery
    private let clock: any SessionClock
    private var last: ServiceConfiguration?
    /// Whether `last` has all that any document says.
    private var isComplete = false
    /// Set by an answer that casts doubt on what the metadata says: the next use fetches them anew.
    var isDoubted = false

    /// When `last` is fetched anew without any doubt.
    private var nextLook: Instant
    /// When somebody looked last, whatever was found.
    private var lastLook: Instant?

    init(_ discovery: ServiceDiscovery, clock: any SessionClock) {
        self.discovery = discovery
        self.clock = clock
        nextLook = clock.now
    }

    /// The server's metadata: fetched once, and again when doubted or old; the last good ones where that fails.
    ///
    /// - Parameters:
    ///   - endpoint: what they are wanted for; nil for everything that the server says anywhere.
    ///   - age: how long ago they may have been looked for at most; nil for as long as they are good.
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
            let found = try await discovery.discover(wanting: endpoint)
            last = found.service
            isComplete = found.isComplete
            isDoubted = false
            nextLook = clock.now + Self.goodFor
            return found.service
        } catch {
            guard let last else { throw error }
            nextLook = clock.now + Self.lookAgainAfter
            return last
        }
    }
}
