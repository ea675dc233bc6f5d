// SPDX-License-Identifier: Apache-2.0

/// One worker's counts since its start for the routes of one name.
///
/// It outlives the configuration: a route that is removed and added again goes on with its old counts. Only
/// its worker changes it, so nothing is atomic.
package final class RouteTally {
    /// The value of the label `route`.
    package let name: String
    /// The counts so far, without connections to upstreams.
    package private(set) var metrics = RouteMetrics()

    package init(_ name: String) {
        self.name = name
    }

    /// Makes the tally of requests that matched no route.
    package static func forNoRoute() -> RouteTally { RouteTally(WorkerMetrics.noRoute) }

    /// Counts one response.
    ///
    /// - Parameters:
    ///   - status: the status that the client saw.
    ///   - duration: the time from the first byte of the request to the last byte of the response.
    package func countRequest(status: Int, duration: Duration) {
        metrics.countRequest(status: status, duration: duration)
    }

    /// Ends a step: the longest durations are those of the next one from now on.
    package func endStep() { metrics.endStep() }

    /// Counts one request that was sent again.
    package func countReplay(_ result: ReplayResult) { metrics.replays[result] += 1 }

    /// Counts one response with which the upstream refused the token.
    package func countAuthorizationError(_ error: ChallengeError) { metrics.authorizationErrors[error] += 1 }

    /// Counts one error response of our own with a status from 500 on.
    package func countOwnFailure(_ blame: AnswerBlame) { metrics.ownFailures[blame] += 1 }

    /// Counts one request to which its upstream gave no complete response.
    package func countUpstreamFailure(_ reason: UpstreamFailureReason) {
        metrics.upstreamFailures[reason] += 1
    }
}
