// SPDX-License-Identifier: Apache-2.0

internal import HTTPClient
internal import OAuth

/// One worker's share of a route: its upstream connections and its view of the token.
final class RouteState<Pool: ExchangePool> {
    let plan: PreparedRoute
    let pool: Pool
    let report: UpstreamReport
    var token: TokenReader?
    var tokenField: TokenField
    /// The newest token generation that this worker has seen the upstream accept.
    var acceptedGeneration = -1
    /// Upstream connections that carry a request.
    var activeConnections = 0

    init(plan: PreparedRoute, pool: Pool, report: UpstreamReport) {
        self.plan = plan
        self.pool = pool
        self.report = report
        tokenField = TokenField(plan.route.credentials)
        token = plan.route.session.map { TokenReader($0.slot) }
    }

    var index: Int { plan.index }
    var route: Route { _read { yield plan.route } }
}
