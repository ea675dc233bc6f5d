// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import OAuth
internal import YAML

extension RouteConfiguration {
    /// What a route must fit in with.
    struct Surroundings {
        /// The data listeners.
        let listeners: [ListenAddress]
        /// Every listener of ours that must not be an upstream.
        let ownAddresses: [ListenAddress]
        /// The identities' names, those with problems of their own included; nil where they could not be read.
        let identities: [String]?
        /// What a route's time-outs fall back on.
        let timeouts: UpstreamTimeouts
    }

    /// - Returns: nil after reporting what it cannot do without.
    init?(reading section: Section<RouteKey>, in surroundings: Surroundings) {
        path = section.value(.path, .routePath, default: "/")
        host = section.value(.host, .hostPattern)?.value
        listen = section.listener(among: surroundings.listeners)
        methods = section.oneOrMany(.methods, .method).map { Set($0.map(\.value)) }
        if methods?.isEmpty == true {
            section.error(.methods, "lets nothing through; leave it out for any method")
        }
        stripsPrefix = section.value(.stripPrefix, .flag, default: false)

        section.require(.identity, "is missing: name one, or 'none' to forward without a token")
        let identity = section.identity(among: surroundings.identities)
        self.identity = identity
        target = section.target(isUsed: identity != nil || section.isInDoubt(.identity))
        allow = section.has(.allow) ? RequestRules(reading: section) : nil
        authorization = section.value(.authorization, .word, default: .overwrite)
        let header = section.value(.header, .fieldName, default: .authorization)
        if HeaderEdits.framing.contains(header) || header == .host {
            section.error(.header, "cannot carry a token")
        }
        self.header = header
        scheme = section.scheme
        onNoToken = section.value(.onNoToken, .word, default: .fail)

        hostHeader = section.value(.hostHeader, .hostHeader, default: .upstream)
        requestHeaders = HeaderEdits(reading: section.section(.requestHeaders)) { name in
            if HeaderEdits.framing.contains(name) { return "is bearerd's own to write" }
            if name == .host { return "is set by host_header" }
            return name == header && identity != nil ? "carries the token" : nil
        }
        responseHeaders = HeaderEdits(reading: section.section(.responseHeaders)) { name in
            HeaderEdits.framing.contains(name) ? "is bearerd's own to write" : nil
        }
        forwarded = section.value(.forwarded, .forwarded, default: .none)
        via = section.value(.via, .flag, default: true)
        upgrade = section.upgrade
        retryOnStatus = Set(
            section.list(.retryOnStatus, .integer(in: 300...599))?.map(\.value) ?? [401])
        replayBuffer = section.value(.replayBuffer, .size(in: 0...64 << 20), default: 64 << 10)
        timeouts = UpstreamTimeouts(ofRoute: section.section(.timeouts), otherwise: surroundings.timeouts)
        transport = TransportConfiguration(reading: section, skipsVerification: false)

        section.require(.upstream)
        let allowsInsecure = section.flag(.allowInsecureUpstream) ?? true || section.isInDoubt(.connectTo)
        guard let upstream = section.value(.upstream, .upstream(in: section.reading))?.value else {
            return nil
        }
        self.upstream = upstream
        let isLoopback = transport.connectTo?.isLoopback ?? upstream.isLoopback
        if upstream.scheme == .http, !isLoopback, !allowsInsecure {
            section.error(
                .upstream, "plain http off loopback shows the token; it needs allow_insecure_upstream: true")
        }
        if let own = surroundings.ownAddresses.first(where: {
            $0.isReached(by: upstream, at: transport.connectTo)
        }) {
            section.error(.upstream, "is bearerd's own listener \(own)")
        }
    }
}

extension Section<RouteKey> {
    fileprivate func listener(among listeners: [ListenAddress]) -> ListenAddress? {
        guard let listener = value(.listen, .listenAddress(in: reading)) else { return nil }
        if !listeners.isEmpty, !listeners.contains(listener.value) {
            let all = listeners.map(\.description).joined(separator: ", ")
            reading.error("is none of the listeners (\(all))", at: listener.place)
        }
        return listener.value
    }

    fileprivate func identity(among names: [String]?) -> String? {
        guard let name = value(.identity, .text), name.value != RouteConfiguration.noIdentity else {
            return nil
        }
        if let names, !names.contains(name.value) {
            let hint = NearMiss.hint(for: name.value, among: names + [RouteConfiguration.noIdentity])
            reading.error("there is no identity '\(name.value)'\(hint)", at: name.place)
        }
        return name.value
    }

    /// What the route's token is asked for, unless the identity decides it all.
    fileprivate func target(isUsed: Bool) -> TokenTarget? {
        let given = [RouteKey.scope, .audience, .resource].filter(has)
        guard !given.isEmpty else { return nil }
        if !isUsed { error(given[0], "means nothing to a route without an identity") }
        return TokenTarget(
            scope: words(.scope, .scopeToken)?.distinctValues,
            audience: words(.audience, .text)?.distinctValues,
            resource: words(.resource, .resource)?.distinctValues)
    }

    /// An empty scheme stands for the token alone.
    fileprivate var scheme: String {
        guard let scheme = value(.scheme, .textThatMayBeEmpty) else { return "Bearer" }
        if !scheme.value.isEmpty, HTTPFields.Name(scheme.value) == nil {
            reading.error("is not a single word", at: scheme.place)
        }
        return scheme.value
    }

    fileprivate var upgrade: Set<String> {
        guard let protocols = oneOrMany(.upgrade, .upgradeProtocol) else { return ["websocket"] }
        for name in protocols where name.value.lowercased() == "h2c" {
            reading.warn("h2c is never passed on", at: name.place)
        }
        return Set(protocols.map { $0.value.lowercased() })
    }
}

extension ValueKind<RouteConfiguration.HostHeader> {
    /// `upstream`, `preserve`, or the text itself.
    fileprivate static var hostHeader: ValueKind {
        ValueKind { scalar throws(ValueError) in
            switch scalar.text {
            case "upstream": return .upstream
            case "preserve": return .preserve
            default:
                guard HostPattern(scalar.text) != nil else {
                    throw ValueError("'\(scalar.written)' is neither upstream, preserve, nor a host")
                }
                return .value(scalar.text)
            }
        }
    }
}

extension ValueKind<RouteConfiguration.ForwardedPolicy> {
    /// `true`, `false`, or `append`.
    fileprivate static var forwarded: ValueKind {
        ValueKind { scalar throws(ValueError) in
            if let isOn = scalar.typed.bool { return isOn ? .replace : .none }
            guard scalar.text == "append" else {
                throw ValueError("expected true, false or append, found '\(scalar.written)'")
            }
            return .append
        }
    }
}
