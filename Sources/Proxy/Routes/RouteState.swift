// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdObservability
internal import BearerdRouting

/// One worker's state for a route of a snapshot.
final class RouteState<Pool: ExchangePool> {
    let plan: PreparedRoute
    let upstream: UpstreamState<Pool>
    /// The pool of ``upstream``, kept here because every request needs it.
    let pool: Pool
    /// nil for a route without an identity.
    let token: TokenState?
    let tally: RouteTally

    init(plan: PreparedRoute, upstream: UpstreamState<Pool>, token: TokenState?, tally: RouteTally) {
        self.plan = plan
        self.upstream = upstream
        pool = upstream.pool
        self.token = token
        self.tally = tally
    }

    var terms: RouteTerms { _read { yield plan.terms } }
}
