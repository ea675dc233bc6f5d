// SPDX-License-Identifier: Apache-2.0

package import BearerdAdminAPI
internal import BearerdObservability
package import OAuth

/// One route of the configuration, as the admin listener shows it.
package struct AdminRoute: Sendable, Equatable {
    /// The requests that it takes.
    package let scope: RouteScope
    /// The upstream as configured.
    package let upstream: String
    /// The version of HTTP in which the upstream is spoken to, as `upstream_protocol` says it.
    package let upstreamProtocol: String?
    /// The identity whose token the route adds; nil for none.
    package let identity: String?
    /// The target of the route's tokens; nil without an identity.
    package let target: TokenTarget?

    /// The `path` as configured; its name in metrics and logs.
    package var path: String { scope.path }

    package init(
        _ scope: RouteScope, upstream: String, upstreamProtocol: String? = nil, identity: String?,
        target: TokenTarget? = nil
    ) {
        self.upstreamProtocol = upstreamProtocol
        self.target = target
        self.scope = scope
        self.upstream = upstream
        self.identity = identity
    }

    /// The route's entry in the status.
    ///
    /// - Parameters:
    ///   - figures: of its path, if anything was asked for there.
    ///   - health: of its upstream; nil while no worker serves it.
    func status(_ figures: RouteFigures?, health: UpstreamHealth?) -> RouteStatus {
        var status = RouteStatus(
            scope, upstream: upstream, upstreamProtocol: upstreamProtocol, identity: identity)
        var figures = figures ?? RouteFigures()
        figures.health = health ?? .unknown
        status.figures = figures
        return status
    }
}
