// SPDX-License-Identifier: Apache-2.0

/// What one worker, or all of them together, counted since the start.
///
/// A plain value: its worker alone changes it, so nothing is atomic; a scrape asks each worker for its copy and
/// merges them.
package struct WorkerMetrics: Sendable, Equatable {
    /// What is counted for the routes of each name; ``noRoute`` stands for requests that none matched.
    package private(set) var routes: [String: RouteMetrics] = [:]
    /// Requests refused before they were sent on.
    package private(set) var denied = Tally<DenialReason>()
    /// Connections of clients that are open now.
    package var openConnections = 0

    /// What stands where a route's name would, for requests that no route matched: no path is like this.
    package static let noRoute = "none"

    /// Starts at nothing.
    package init() {}

    /// Counts one refused request.
    package mutating func countDenial(_ reason: DenialReason) { denied[reason] += 1 }

    /// Adds what was counted for the routes of one name.
    package mutating func add(_ tally: RouteTally) { merge(tally.metrics, of: tally.name) }

    /// Adds connections to the upstream of a route.
    package mutating func addUpstreamConnections(route: String, connecting: Int, active: Int, idle: Int) {
        var connections = RouteMetrics()
        connections.upstreamConnections[.connecting] = connecting
        connections.upstreamConnections[.active] = active
        connections.upstreamConnections[.idle] = idle
        merge(connections, of: route)
    }

    /// Adds event streams and tunnels of a route.
    package mutating func addOpenStreams(_ count: Int, route: String) {
        var streams = RouteMetrics()
        streams.openStreams = count
        merge(streams, of: route)
    }

    /// Adds what another worker counted.
    package mutating func merge(_ other: WorkerMetrics) {
        for (name, route) in other.routes { merge(route, of: name) }
        denied.merge(other.denied)
        openConnections += other.openConnections
    }

    private mutating func merge(_ metrics: RouteMetrics, of route: String) {
        routes[route, default: RouteMetrics()].merge(metrics)
    }
}
