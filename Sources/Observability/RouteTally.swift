// SPDX-License-Identifier: Apache-2.0

internal import BearerdSystem

/// One worker's counts since its start for the routes of one name.
///
/// It outlives the configuration: a route that is removed and added again goes on with its old counts. Only
/// its worker changes it, so nothing is atomic.
package final class RouteTally {
    /// The value of the label `route`.
    package let name: String
    /// The counts so far, without connections to upstreams.
    package var metrics: RouteMetrics { _read { yield counts.value } }
    private let counts = Exclusive(RouteMetrics())

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
        counts.value.countRequest(status: status, duration: duration)
    }

    /// Ends a step: the longest durations are those of the next one from now on.
    package func endStep() { counts.value.endStep() }

    /// Counts one request that was sent again.
    package func countReplay(_ result: ReplayResult) { counts.value.replays[result] += 1 }

    /// Counts one response with which the upstream refused the token.
    package func countAuthorizationError(_ error: ChallengeError) {
        counts.value.authorizationErrors[error] += 1
    }

    /// Counts one response that the client got of the upstream because of our token.
    package func countTokenRefusal() { counts.value.tokenRefusals += 1 }

    /// Counts one error response of our own with a status from 500 on.
    package func countOwnFailure(_ blame: AnswerBlame) { counts.value.ownFailures[blame] += 1 }

    /// Counts one response with a status below 400 that the upstream broke off.
    package func countBrokenOff() { counts.value.brokenOff += 1 }

    /// Counts one request to which its upstream gave no complete response.
    package func countUpstreamFailure(_ reason: UpstreamFailureReason) {
        counts.value.upstreamFailures[reason] += 1
    }
}
