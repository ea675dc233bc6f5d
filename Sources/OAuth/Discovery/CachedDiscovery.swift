// SPDX-License-Identifier: Apache-2.0

/// The last metadata that could be had of an authorization server.
///
/// Confined to its session.
final class CachedDiscovery {
    private let discovery: ServiceDiscovery
    private var last: ServiceConfiguration?
    /// Whether `last` has all that any document says.
    private var isComplete = false
    /// Set by an answer that casts doubt on what the metadata says: the next use fetches them anew.
    var isDoubted = false

    init(_ discovery: ServiceDiscovery) {
        self.discovery = discovery
    }

    /// The server's metadata: fetched once, and again when doubted; the last good ones where that fails.
    ///
    /// - Parameter endpoint: what they are wanted for; nil for everything that the server says anywhere.
    /// - Throws: ``TokenFailure`` if there never were any.
    func metadata(wanting endpoint: Endpoint?) async throws(TokenFailure) -> ServiceConfiguration {
        if let last, !isDoubted, isComplete || endpoint.map({ last.endpoints[$0] != nil }) ?? false {
            return last
        }
        do throws(TokenFailure) {
            let found = try await discovery.discover(wanting: endpoint)
            last = found.service
            isComplete = found.isComplete
            isDoubted = false
            return found.service
        } catch {
            guard let last else { throw error }
            return last
        }
    }
}
