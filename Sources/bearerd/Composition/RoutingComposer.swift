// SPDX-License-Identifier: Apache-2.0

import Configuration
import Cryptography
import EventLoop
import HTTPClient
internal import HTTPExchange
import HTTPMessages
import OAuth
import Observability
import Proxy
import System

/// Makes of configurations, one after the other, what the workers serve by, and takes over what has not changed.
struct RoutingComposer {
    /// What the snapshots stand on.
    struct Ground {
        /// The data listeners, and where clients reach them.
        var listeners: [(key: ListenerKey, listener: BoundListener)]
        /// Encrypts TCP connections of clients; nil where they are plain.
        var security: (any ConnectionSecurity)?
        /// What clients must send; nil where they need nothing.
        var accessKey: CurrentSecret?
        let trust: TrustStores
        let log: Log
        /// Where access lines go.
        let lines: any LineSink
    }

    /// All by which one upstream differs from another.
    private struct UpstreamSettings: Equatable {
        let address: UpstreamAddress
        let lifetimes: UpstreamPool.Lifetimes
        let headLimits: HeadLimits
        let connections: Int
    }

    private var version = 0
    /// Of the snapshot before.
    private var upstreams: [RouteKey: (settings: UpstreamSettings, shared: SharedUpstream)] = [:]
    private var rateLimits: [ListenerKey: (perSecond: Int, limit: RateLimit)] = [:]

    /// The snapshot of a configuration.
    ///
    /// - Parameter session: whose token a route carries.
    mutating func snapshot(
        of configuration: Configuration, on ground: Ground, session: (RouteConfiguration) -> AuthSession?
    ) throws(TrustStore.LoadError) -> RoutingSnapshot {
        let limits = configuration.limits
        let headLimits = HeadLimits(headerBytes: limits.headerBytes, uriBytes: limits.uriBytes)
        var routes: [Route] = []
        var upstreams: [RouteKey: (settings: UpstreamSettings, shared: SharedUpstream)] = [:]
        for one in configuration.routes {
            let key = RouteKey(
                path: one.path, host: one.host?.description, listener: one.listen.map { ListenerKey($0) },
                methods: one.methods)
            let settings = UpstreamSettings(
                address: try one.address(trust: ground.trust), lifetimes: one.lifetimes,
                headLimits: headLimits, connections: limits.upstreamConnections)
            let known = self.upstreams[key].flatMap { $0.settings == settings ? $0.shared : nil }
            let shared =
                known
                ?? SharedUpstream(
                    settings.address, lifetimes: settings.lifetimes, headLimits: headLimits,
                    connections: settings.connections, route: one.path, log: ground.log)
            upstreams[key] = (settings, shared)
            routes.append(
                one.route(
                    to: shared, session: session(one), tokenWait: configuration.timeouts.tokenWait))
        }
        let listeners = ground.listeners.map {
            policy(of: $0.key, bound: $0.listener, configuration, ground)
        }
        self.upstreams = upstreams
        version += 1
        let log = configuration.log
        return RoutingSnapshot(
            version: version, routes: routes, access: configuration.accessPolicy(key: ground.accessKey),
            listeners: listeners, headLimits: headLimits, bodyLimit: limits.bodyBytes.map { UInt64($0) },
            serverTimeouts: configuration.serverTimeouts, logFormat: log.effectiveFormat,
            accessLog: log.access && log.level <= .info ? ground.lines : nil)
    }

    /// One listener's names are not another's: at a Unix socket any port will do, at an address only its own.
    private mutating func policy(
        of key: ListenerKey, bound: BoundListener, _ configuration: Configuration, _ ground: Ground
    ) -> ListenerPolicy {
        let names =
            configuration.access.hosts == nil
            ? HostNames.of(bound, scheme: configuration.tls == nil ? .http : .https)
            : configuration.allowedHosts
        return ListenerPolicy(
            key: key, hosts: HostList(names),
            fetchMetadata: bound.address.fetchMetadata(isPlain: configuration.tls == nil),
            rateLimit: rateLimit(of: key, configuration.limits.requestsPerSecond),
            security: ground.security)
    }

    /// A bucket goes on as full as it is, for as long as its rate stays.
    private mutating func rateLimit(of key: ListenerKey, _ perSecond: Int?) -> RateLimit? {
        guard let perSecond else {
            rateLimits[key] = nil
            return nil
        }
        if let known = rateLimits[key], known.perSecond == perSecond { return known.limit }
        let limit = RateLimit(perSecond: Double(perSecond))
        rateLimits[key] = (perSecond, limit)
        return limit
    }
}

extension Configuration {
    fileprivate func accessPolicy(key: CurrentSecret?) -> AccessPolicy {
        AccessPolicy(
            origins: Set(access.origins),
            peerUsers: access.peerUserIDs ?? [CurrentProcess.effectiveUser, 0], key: key)
    }

    fileprivate var serverTimeouts: ServerTimeouts {
        ServerTimeouts(
            header: timeouts.header ?? .zero, idle: timeouts.idle ?? .zero,
            streamIdle: timeouts.upstream.streamIdle ?? .zero, halfClosed: timeouts.halfClosed ?? .zero)
    }
}

extension ListenAddress {
    fileprivate func fetchMetadata(isPlain: Bool) -> ListenerPolicy.FetchMetadata {
        switch self {
        case .unix, .systemd, .descriptor: .sent  // a Unix socket without a path
        case .tcp: isPlain ? isLoopback ? .sentToLoopbackNames : .missing : .sent
        }
    }
}
