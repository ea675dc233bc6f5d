// SPDX-License-Identifier: Apache-2.0

/// The counts of one worker, or of all of them, since the start.
///
/// Only the worker changes it, so nothing is atomic; a scrape asks each worker for a copy and merges them.
package struct WorkerMetrics: Sendable, Equatable {
    /// The counts for each route's name; ``noRoute`` stands for requests that matched none.
    package private(set) var routes: [String: RouteMetrics] = [:]
    /// Requests that were refused before they were forwarded.
    package private(set) var denied = Tally<DenialReason>()
    /// Open client connections.
    package var openConnections = 0

    /// The name for requests that matched no route; no route's path can be equal to it.
    package static let noRoute = "none"

    package init() {}

    /// Counts one refused request.
    package mutating func countDenial(_ reason: DenialReason) { denied[reason] += 1 }

    /// Adds the counts for the routes of one name.
    package mutating func add(_ tally: RouteTally) { merge(tally.metrics, of: tally.name) }

    /// Adds open connections to the upstream of a route.
    package mutating func addUpstreamConnections(route: String, connecting: Int, active: Int, idle: Int) {
        var connections = RouteMetrics()
        connections.upstreamConnections[.connecting] = connecting
        connections.upstreamConnections[.active] = active
        connections.upstreamConnections[.idle] = idle
        merge(connections, of: route)
    }

    /// Adds open event streams and tunnels of a route.
    package mutating func addOpenStreams(_ count: Int, route: String) {
        var streams = RouteMetrics()
        streams.openStreams = count
        merge(streams, of: route)
    }

    /// Adds the counts of another worker.
    package mutating func merge(_ other: WorkerMetrics) {
        for (name, route) in other.routes { merge(route, of: name) }
        denied.merge(other.denied)
        openConnections += other.openConnections
    }

    private mutating func merge(_ metrics: RouteMetrics, of route: String) {
        routes[route, default: RouteMetrics()].merge(metrics)
    }
}
