// SPDX-License-Identifier: Apache-2.0

import BearerdAdminAPI
import BearerdConfiguration
import BearerdCryptography
import BearerdEventLoop
import BearerdHTTPClient
internal import BearerdHTTPExchange
import BearerdHTTPMessages
import BearerdObservability
import BearerdProxy
import BearerdRouting
import BearerdSystem
import BearerdTLS
import OAuth

/// Makes the workers' snapshots of one configuration after the other, and reuses what has not changed.
struct RoutingComposer {
    /// The inputs of a snapshot besides the configuration.
    struct Inputs {
        /// The data listeners with their addresses.
        var listeners: [(key: ListenerKey, listener: BoundListener)]
        /// The address of the admin listener; nil without one.
        var admin: ListenAddress?
        /// The TLS settings for clients over TCP; nil leaves connections plain.
        var security: ServerTLS?
        /// The keys, any of which clients must send; none where they need nothing.
        var accessKeys: [CurrentSecret]
        let trust: TrustStores
        let log: Log
        /// The output for access lines.
        let lines: any LineSink
        /// The file for audit lines; nil without one.
        var audit: AppendedFile?
        /// The settings of tracing; nil turns it off.
        var tracing: TracingSettings?
        /// Called on any thread when a route begins to fail.
        var onFailing: (@Sendable () -> Void)?
    }

    /// The settings in which upstreams can differ.
    private struct UpstreamSettings: Equatable {
        let address: UpstreamAddress
        let lifetimes: UpstreamPool.Lifetimes
        let headLimits: HeadLimits
    }

    private var version = 0
    /// The upstreams of the previous snapshot; routes that differ only in the user share one.
    private var upstreams: [RouteKey: (settings: UpstreamSettings, shared: SharedUpstream)] = [:]
    /// The most connections to each of ``upstreams``.
    private var connections = 1
    private var rateLimits: [ListenerKey: (perSecond: Int, limit: RateLimit)] = [:]
    private var strayTLS: [ListenerKey: StrayTLS] = [:]
    /// Outlives a snapshot, so that its lines keep their distance.
    private var floods: ClientFloods?

    /// Makes the snapshot of a configuration.
    ///
    /// - Parameter session: returns the session whose token a route adds.
    mutating func snapshot(
        of configuration: Configuration, from inputs: Inputs, session: (RouteConfiguration) -> AuthSession?
    ) throws(TrustStore.LoadError) -> RoutingSnapshot {
        let limits = configuration.limits
        let headLimits = configuration.headLimits
        connections = limits.upstreamConnections
        var routes: [PreparedRoute] = []
        var upstreams: [RouteKey: (settings: UpstreamSettings, shared: SharedUpstream)] = [:]
        for one in configuration.routes {
            let place = one.key.ofAnyUser
            let upstream: (settings: UpstreamSettings, shared: SharedUpstream)
            if let made = upstreams[place] {
                upstream = made  // by the route for another user
            } else {
                let settings = UpstreamSettings(
                    address: try one.address(trust: inputs.trust), lifetimes: one.lifetimes,
                    headLimits: headLimits)
                let known = self.upstreams[place]
                // The connections to it count on, whatever else changes; those to another address do not.
                let limit = known.flatMap {
                    $0.settings.address.isOneServer(with: settings.address) ? $0.shared.limit : nil
                }
                let shared =
                    known.flatMap { $0.settings == settings ? $0.shared : nil }
                    ?? SharedUpstream(
                        settings.address, lifetimes: settings.lifetimes, headLimits: headLimits,
                        limit: limit ?? UpstreamLimit(maximum: connections), route: one.key.path,
                        log: inputs.log, onFailing: inputs.onFailing)
                upstream = (settings, shared)
                upstreams[place] = upstream
            }
            routes.append(
                PreparedRoute(
                    one.key, to: upstream.shared, as: session(one),
                    from: one.identity.flatMap { configuration.identity(named: $0)?.client.source?.name },
                    on: one.terms,
                    tokenWait: configuration.timeouts.tokenWait,
                    loginURL: configuration.loginURL(of: one.identity, at: inputs.admin)))
        }
        let listeners = inputs.listeners.map {
            policy(of: $0.key, bound: $0.listener, configuration, inputs)
        }
        self.upstreams = upstreams
        version += 1
        let log = configuration.log
        return RoutingSnapshot(
            version: version, routes: routes, access: configuration.accessPolicy(keys: inputs.accessKeys),
            listeners: listeners, headLimits: headLimits, streams: limits.streams,
            bodyLimit: limits.bodyBytes.map { UInt64($0) },
            serverTimeouts: configuration.serverTimeouts,
            accessStyle: AccessLogStyle(format: log.effectiveFormat, fields: log.accessFields),
            accessLog: log.access && log.level <= .info ? inputs.lines : nil,
            audit: configuration.audit == nil ? nil : inputs.audit.map(AppendedFile.Use.init),
            tracing: inputs.tracing, pageInPlaceOfCommands: configuration.pageInPlaceOfCommands)
    }

    /// The state of each upstream, by its route.
    var upstreamHealth: [RouteScope: UpstreamHealth] {
        upstreams.reduce(into: [:]) { healths, upstream in
            let health = upstream.value.shared.health
            let scope = upstream.key.scope
            healths[scope] = healths[scope]?.worse(health) ?? health
        }
    }

    /// Judges each route by the last minute's answers; the log is told of one that fails no more.
    ///
    /// - Returns: true if one of them fails.
    func hasFailingRoute() -> Bool {
        // Every one of them is judged, not the first alone.
        upstreams.values.count { $0.shared.isFailing() } > 0
    }

    /// Holds each upstream to the configuration's limit of connections.
    func limitUpstreams() {
        for upstream in upstreams.values { upstream.shared.limit.change(maximum: connections) }
    }

    /// Ends what is told of the upstreams that the next configuration does not have.
    func retireUpstreams(notIn next: RoutingComposer) {
        let kept = Set(next.upstreams.values.map { ObjectIdentifier($0.shared) })
        for upstream in upstreams.values where !kept.contains(ObjectIdentifier(upstream.shared)) {
            upstream.shared.retire()
        }
    }

    /// The rules of one listener; at a Unix socket any port in `Host` is accepted, at an address only its
    /// own.
    private mutating func policy(
        of key: ListenerKey, bound: BoundListener, _ configuration: Configuration, _ inputs: Inputs
    ) -> ListenerPolicy {
        let listeners = configuration.listeners.filter { $0.address == key.address }
        let protocols = listeners.dropFirst(key.ordinal).first?.protocols ?? .either
        let names =
            configuration.access.hosts == nil
            ? HostNames.of(bound, scheme: configuration.tls == nil ? .http : .https)
            : configuration.allowedHosts
        return ListenerPolicy(
            key: key, hosts: HostList(names + configuration.routedHosts(at: key.address)),
            fetchMetadata: bound.address.fetchMetadata(isPlain: configuration.tls == nil),
            rateLimit: rateLimit(of: key, configuration.limits.requestsPerSecond),
            security: inputs.security.map { OfferedTLS($0, offering: protocols) },
            strayTLS: strayTLS(to: key, bound, inputs), floods: floods(inputs),
            speaksHTTP1: protocols != .http2, speaksHTTP2: protocols != .http1)
    }

    /// Tells of TLS that clients speak to a plain listener; nil for one that speaks it, and for Unix sockets.
    private mutating func strayTLS(
        to key: ListenerKey, _ bound: BoundListener, _ inputs: Inputs
    ) -> StrayTLS? {
        guard inputs.security == nil, case .tcp = bound.address else { return nil }
        if let known = strayTLS[key] { return known }
        let made = StrayTLS(log: inputs.log, address: bound.address.description)
        strayTLS[key] = made
        return made
    }

    private mutating func floods(_ inputs: Inputs) -> ClientFloods {
        let made = floods ?? ClientFloods(log: inputs.log)
        floods = made
        return made
    }

    /// The rate limit of a listener, which is kept with its level while the rate stays the same.
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
    /// The limits for the heads of messages.
    var headLimits: HeadLimits {
        HeadLimits(headerBytes: limits.headerBytes, uriBytes: limits.uriBytes)
    }

    /// The hosts that routes of a listener name, which clients that can set only `http_proxy` ask for there.
    func routedHosts(at listener: ListenAddress) -> [String] {
        routes.filter { $0.key.listen == nil || $0.key.listen == listener }
            .compactMap { $0.key.host?.onAnyPort.description }
    }

    fileprivate func accessPolicy(keys: [CurrentSecret]) -> AccessPolicy {
        AccessPolicy(
            origins: Set(access.origins),
            peerUsers: access.peerUserIDs ?? [CurrentProcess.effectiveUser, 0], keys: keys,
            clientNames: tls?.clientNames)
    }

    fileprivate var serverTimeouts: ServerTimeouts {
        ServerTimeouts(
            header: timeouts.header, idle: timeouts.idle, streamIdle: timeouts.upstream.streamIdle,
            halfClosed: timeouts.halfClosed)
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
