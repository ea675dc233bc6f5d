// SPDX-License-Identifier: Apache-2.0

/// What one worker counts for the routes of one name, from its start on.
///
/// It outlives the configuration that brought it: a route that goes and comes back goes on counting where it was. Its
/// worker alone changes it, so nothing is atomic.
package final class RouteTally {
    /// The label `route`.
    package let name: String
    /// What was counted so far, connections to upstreams left out.
    package private(set) var metrics = RouteMetrics()

    package init(_ name: String) {
        self.name = name
    }

    /// For the requests that no route matched.
    package static func forNoRoute() -> RouteTally { RouteTally(WorkerMetrics.noRoute) }

    /// Counts one answered request.
    ///
    /// - Parameters:
    ///   - status: the status the client saw.
    ///   - duration: from the first byte of the request to the last one of the answer.
    package func countRequest(status: Int, duration: Duration) {
        metrics.countRequest(status: status, duration: duration)
    }

    /// Counts one request that was sent a second time.
    package func countReplay(_ result: ReplayResult) { metrics.replays[result] += 1 }

    /// Counts one answer with which the upstream refused the token.
    package func countAuthorizationError(_ error: ChallengeError) { metrics.authorizationErrors[error] += 1 }

    /// Counts one answer of our own with a status of 500 or above.
    package func countOwnFailure(_ blame: AnswerBlame) { metrics.ownFailures[blame] += 1 }

    /// Counts one request that its upstream left without a whole answer.
    package func countUpstreamFailure(_ reason: UpstreamFailureReason) {
        metrics.upstreamFailures[reason] += 1
    }
}
