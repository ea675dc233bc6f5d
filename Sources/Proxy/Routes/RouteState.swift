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
    case first(PooledRoute<Kinds.First>)
    case second(PooledRoute<Kinds.Second>)
    /// The upstream decides when it is connected to.
    case either(PooledRoute<Kinds.First>, PooledRoute<Kinds.Second>)

    init(
        by way: UpstreamWay<Kinds>, plan: PreparedRoute, token: TokenState?, tally: RouteTally,
        answers: RecentAnswers
    ) {
        switch way {
        case .first(let pool):
            self = .first(
                PooledRoute(to: pool, plan: plan, token: token, tally: tally, answers: answers))
        case .second(let pool):
            self = .second(
                PooledRoute(to: pool, plan: plan, token: token, tally: tally, answers: answers))
        case .either(let first, let second):
            self = .either(
                PooledRoute(to: first, plan: plan, token: token, tally: tally, answers: answers),
                PooledRoute(to: second, plan: plan, token: token, tally: tally, answers: answers))
        }
    }

    /// The part of the route that does not depend on the kind of its upstream.
    var state: RouteState {
        switch self {
        case .first(let route): route
        case .second(let route): route
        case .either(let route, _): route
        }
    }

    /// The way to the upstream.
    var way: UpstreamWay<Kinds> {
        switch self {
        case .first(let route): .first(route.pool)
        case .second(let route): .second(route.pool)
        case .either(let first, let second): .either(first.pool, second.pool)
        }
    }
}
