// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

/// All that a configuration file says, checked as a whole and never changed afterwards.
package struct Configuration: Sendable {
    /// The data listeners, at least one, each once.
    package let listen: [ListenAddress]
    /// Whether plain HTTP may be served off loopback (`unsafe_listen`); of sockets that are passed nobody knows before.
    package let allowsUnsafeListen: Bool
    /// The certificate with which its TCP addresses speak HTTPS; nil for plain HTTP.
    package let tls: TLSConfiguration?
    /// How many event loops serve them; nil for one for each core.
    package let workers: Int?
    /// Who may use the data listeners.
    package let access: AccessConfiguration
    /// What a request may use up.
    package let limits: LimitsConfiguration
    /// How long anything may take.
    package let timeouts: TimeoutsConfiguration
    /// How the daemon ends.
    package let shutdown: ShutdownConfiguration
    /// The embedded provider and API.
    package let development: DevelopmentConfiguration
    /// A program and its arguments, run on each identity's change of state; empty for none.
    package let onStateChange: [String]
    /// What is logged.
    package let log: LogConfiguration
    /// Where it is written which credential served whom; nil for nowhere.
    package let audit: AuditConfiguration?
    /// Where traces go.
    package let telemetry: TelemetryConfiguration
    /// The admin listener; nil without one.
    package let admin: AdminConfiguration?
    /// The identities in the file's order.
    package let identities: [IdentityConfiguration]
    /// The routes in the file's order, at least one; an item with identities by user is one for each of them.
    package let routes: [RouteConfiguration]
    /// When the file is read again without being told to.
    package let reload: ReloadMode
    /// Where sessions are kept.
    package let store: StoreConfiguration

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

    /// The identity with this name.
    package func identity(named name: String) -> IdentityConfiguration? {
        identities.first { $0.name == name }
    }
}
