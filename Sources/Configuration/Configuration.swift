// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The content of a configuration file, checked as a whole and never changed afterwards.
package struct Configuration: Sendable {
    /// The data listeners, at least one, each once.
    package let listeners: [ListenerConfiguration]
    /// The addresses of the data listeners.
    package var listen: [ListenAddress] { listeners.map(\.address) }
    /// True if plain HTTP may be served off loopback (`unsafe_listen`); the address of a passed socket is known only
    /// later.
    package let allowsUnsafeListen: Bool
    /// The certificate with which its TCP addresses speak HTTPS; nil for plain HTTP.
    package let tls: TLSConfiguration?
    /// The number of event loops that serve them; nil for one per core.
    package let workers: Int?
    package let access: AccessConfiguration
    package let limits: LimitsConfiguration
    package let timeouts: TimeoutsConfiguration
    package let shutdown: ShutdownConfiguration
    package let development: DevelopmentConfiguration
    /// A program and its arguments, run on each identity's change of state; empty for none.
    package let onStateChange: [String]
    package let log: LogConfiguration
    package let audit: AuditConfiguration?
    package let telemetry: TelemetryConfiguration
    /// The admin listener; nil without one.
    package let admin: AdminConfiguration?
    /// The identities in the file's order.
    package let identities: [IdentityConfiguration]
    /// The routes in the file's order, at least one; an item with identities by user is one for each of them.
    package let routes: [RouteConfiguration]
    package let reload: ReloadMode
    package let store: StoreConfiguration

    /// The status page of a daemon whose configuration is in no file; nil where commands can help.
    ///
    /// No command could be told where such a configuration is.
    package var pageInPlaceOfCommands: String?

    /// Each item of the file's list once.
    package var distinctRoutes: [RouteConfiguration] {
        var seen: Set<Int> = []
        return routes.filter { seen.insert($0.position).inserted }
    }

    /// Each item of the file's list once for each identity whose token it may carry.
    package var routesByIdentity: [RouteConfiguration] {
        var seen: [Int: Set<String?>] = [:]
        return routes.filter { seen[$0.position, default: []].insert($0.identity).inserted }
    }

    package func identity(named name: String) -> IdentityConfiguration? {
        identities.first { $0.name == name }
    }
}
