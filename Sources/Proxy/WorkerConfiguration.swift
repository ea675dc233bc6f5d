// SPDX-License-Identifier: Apache-2.0

package import EventLoop
package import HTTPClient
package import HTTPExchange
package import HTTPMessages
package import Observability

/// What all workers share: read-only, or safe to share.
package struct WorkerConfiguration: Sendable {
    package var routes: [Route]
    package var access: AccessPolicy
    /// One for each listener, in their order.
    package var listeners: [ListenerPolicy]
    package var headLimits = HeadLimits()
    /// `nil` for no limit.
    package var bodyLimit: UInt64?
    package var serverTimeouts = ServerTimeouts()
    /// Encrypts the connections of TCP listeners; `nil` leaves them plain.
    package var security: (any ConnectionSecurity)?
    package var connectionBudget: ConnectionBudget
    /// One for each route, in their order.
    package var upstreamLimits: [UpstreamLimit]
    /// One for each route, in their order.
    package var upstreamReports: [UpstreamReport]
    package var logFormat = LogFormat.json
    /// Where access lines go; `nil` turns them off.
    package var accessLog: (any LineSink)?

    package init(
        routes: [Route], access: AccessPolicy, listeners: [ListenerPolicy],
        connectionBudget: ConnectionBudget, upstreamLimits: [UpstreamLimit]
    ) {
        self.routes = routes
        self.access = access
        self.listeners = listeners
        self.connectionBudget = connectionBudget
        self.upstreamLimits = upstreamLimits
        upstreamReports = routes.map { UpstreamReport(of: $0, log: nil) }
    }

    /// One worker's connections to the upstreams, a pool for each route in their order.
    func makePools(on loop: EventLoop) -> [UpstreamPool] {
        let multis = CurlMultiSet(loop: loop)
        return zip(routes, upstreamLimits).map { route, limit in
            UpstreamPool(
                address: route.upstream, limit: limit,
                lifetimes: UpstreamPool.Lifetimes(
                    idle: route.timeouts.upstreamIdle, age: route.timeouts.upstreamAge),
                headLimits: headLimits, multis: multis)
        }
    }
}
