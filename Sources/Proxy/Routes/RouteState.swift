// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import BearerdObservability
internal import BearerdRouting

/// One worker's state for a route of a snapshot.
class RouteState {
    final let plan: PreparedRoute
    /// nil for a route without an identity.
    final let token: TokenState?
    final let tally: RouteTally
    /// This worker's answers of the last minute.
    final let answers: RecentAnswers

    init(plan: PreparedRoute, token: TokenState?, tally: RouteTally, answers: RecentAnswers) {
        self.plan = plan
        self.token = token
        self.tally = tally
        self.answers = answers
    }

    /// The route's upstream, as all workers share it.
    final var shared: SharedUpstream { plan.upstream }

    final var terms: RouteTerms { _read { yield plan.terms } }
}

/// A route with the worker's connections to its upstream.
final class PooledRoute<Pool: ExchangePool>: RouteState {
    let pool: Pool

    init(
        to pool: Pool, plan: PreparedRoute, token: TokenState?, tally: RouteTally, answers: RecentAnswers
    ) {
        self.pool = pool
        super.init(plan: plan, token: token, tally: tally, answers: answers)
    }
}

/// A route with the kind of its upstream.
enum RouteByKind<Kinds: UpstreamKinds> {
    case http1(PooledRoute<Kinds.HTTP1>)
    case http2(PooledRoute<Kinds.HTTP2>)
    /// The upstream decides when it is connected to.
    case negotiated(PooledRoute<Kinds.HTTP1>, PooledRoute<Kinds.HTTP2>)

    init(
        by pools: UpstreamPools<Kinds>, plan: PreparedRoute, token: TokenState?, tally: RouteTally,
        answers: RecentAnswers
    ) {
        switch pools {
        case .http1(let pool):
            self = .http1(
                PooledRoute(to: pool, plan: plan, token: token, tally: tally, answers: answers))
        case .http2(let pool):
            self = .http2(
                PooledRoute(to: pool, plan: plan, token: token, tally: tally, answers: answers))
        case .negotiated(let http1, let http2):
            self = .negotiated(
                PooledRoute(to: http1, plan: plan, token: token, tally: tally, answers: answers),
                PooledRoute(to: http2, plan: plan, token: token, tally: tally, answers: answers))
        }
    }

    /// The part of the route that does not depend on the kind of its upstream.
    var state: RouteState {
        switch self {
        case .http1(let route): route
        case .http2(let route): route
        case .negotiated(let route, _): route
        }
    }

    /// The connections to the upstream.
    var pools: UpstreamPools<Kinds> {
        switch self {
        case .http1(let route): .http1(route.pool)
        case .http2(let route): .http2(route.pool)
        case .negotiated(let http1, let http2): .negotiated(http1.pool, http2.pool)
        }
    }
}
