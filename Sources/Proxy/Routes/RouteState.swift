// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdObservability
internal import BearerdRouting

/// One worker's share of a route, by one snapshot: what the snapshot says, and what the worker has for it already.
final class RouteState<Pool: ExchangePool> {
    let plan: PreparedRoute
    let upstream: UpstreamState<Pool>
    /// Connections to the upstream, which ``upstream`` has.
    let pool: Pool
    /// `nil` without an identity.
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
