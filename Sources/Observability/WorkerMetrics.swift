// SPDX-License-Identifier: Apache-2.0

/// What one worker counted since it started.
///
/// A plain value: its worker alone changes it, so nothing is atomic; a scrape asks each worker for its copy and
/// merges them.
package struct WorkerMetrics: Sendable, Equatable {
    /// What is counted for each route; the last one stands for requests that no route matched.
    package private(set) var routes: [RouteMetrics]
    /// Requests refused before they were sent on.
    package private(set) var denied = Tally<DenialReason>()
    /// Connections of clients that are open now.
    package var openConnections = 0

    /// Starts at nothing.
    ///
    /// - Parameter routes: how many routes the configuration has.
    package init(routes: Int) {
        self.routes = Array(repeating: RouteMetrics(), count: routes + 1)
    }

    /// Counts one answered request.
    ///
    /// - Parameters:
    ///   - route: its index in the configuration, nil when no route matched.
    ///   - status: the status the client saw.
    ///   - duration: from the first byte of the request to the last one of the answer.
    package mutating func countRequest(route: Int?, status: Int, duration: Duration) {
        let index = route ?? routes.count - 1
        routes[index].countRequest(status: status, duration: duration)
    }

    /// Counts one request that was sent a second time.
    package mutating func countReplay(route: Int, result: ReplayResult) { routes[route].replays[result] += 1 }

    /// Counts one answer with which the upstream refused the token.
    package mutating func countAuthorizationError(route: Int, error: ChallengeError) {
        routes[route].authorizationErrors[error] += 1
    }

    /// Counts one request that its upstream left without a whole answer.
    package mutating func countUpstreamFailure(route: Int, reason: UpstreamFailureReason) {
        routes[route].upstreamFailures[reason] += 1
    }

    /// Counts one refused request.
    package mutating func countDenial(_ reason: DenialReason) { denied[reason] += 1 }

    /// Says how many upstream connections of a route are in which state now.
    package mutating func setUpstreamConnections(route: Int, connecting: Int, active: Int, idle: Int) {
        routes[route].upstreamConnections[.connecting] = connecting
        routes[route].upstreamConnections[.active] = active
        routes[route].upstreamConnections[.idle] = idle
    }

    /// Adds what another worker, with the same routes, counted.
    package mutating func merge(_ other: WorkerMetrics) {
        for index in routes.indices { routes[index].merge(other.routes[index]) }
        denied.merge(other.denied)
        openConnections += other.openConnections
    }
}
