// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages
internal import OAuth
internal import Routing

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
        /// Who may connect to Unix sockets.
        let peers: Peers
    }

    /// Who may connect to Unix sockets, as far as the file tells.
    enum Peers {
        /// Those of `access.peer_uids`.
        case listed(Set<UInt32>)
        /// The daemon's own user and root.
        case own
        /// It could not be read.
        case inDoubt
    }

    /// One route, or one for each user that the item names.
    ///
    /// - Parameter position: where the item stands in the list.
    /// - Returns: none after reporting what it cannot do without.
    static func routes(
        reading section: Section<Key>, at position: Int, in surroundings: Surroundings
    ) -> [RouteConfiguration] {
        section.require(.identity, "is missing: name one, or 'none' to forward without a token")
        guard section.hasMap(.identity) else {
            let identity = section.identity(among: surroundings.identities)
            let hasIdentity = identity != nil || section.isInDoubt(.identity)
            guard
                var route = RouteConfiguration(
                    reading: section, at: position, hasIdentity: identity != nil, mayAim: hasIdentity,
                    in: surroundings)
            else { return [] }
            route.identity = identity
            return [route]
        }
        let users = section.identitiesByUser(in: surroundings)
        let hasIdentity = users.isEmpty || users.contains { $0.identity != nil }
        guard
            let route = RouteConfiguration(
                reading: section, at: position, hasIdentity: hasIdentity, mayAim: hasIdentity,
                in: surroundings)
        else { return [] }
        return users.map { user, identity in
            var own = route
            own.key.user = user
            own.identity = identity
            if identity == nil { own.target = nil }
            return own
        }
    }

    /// All but whose token it carries.
    ///
    /// - Returns: nil after reporting what it cannot do without.
    private init?(
        reading section: Section<Key>, at position: Int, hasIdentity: Bool, mayAim: Bool,
        in surroundings: Surroundings
    ) {
        self.position = position
        key = RouteKey(reading: section, among: surroundings.listeners)
        target = section.target(isUsed: mayAim)
        terms = RouteTerms(reading: section, hasIdentity: hasIdentity, timeouts: surroundings.timeouts)
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

extension RouteKey {
    fileprivate init(reading section: Section<RouteConfiguration.Key>, among listeners: [ListenAddress]) {
        self.init(
            path: section.value(.path, .routePath, default: "/"),
            host: section.value(.host, .hostPattern)?.value, listen: section.listener(among: listeners),
            methods: section.oneOrMany(.methods, .method).map { Set($0.map(\.value)) })
        if methods?.isEmpty == true {
            section.error(.methods, "lets nothing through; leave it out for any method")
        }
    }
}

extension Section<RouteConfiguration.Key> {
    fileprivate func listener(among listeners: [ListenAddress]) -> ListenAddress? {
        guard let listener = value(.listen, .listenAddress(in: reading)) else { return nil }
        if !listeners.isEmpty, !listeners.contains(listener.value) {
            let all = listeners.map(\.description).joined(separator: ", ")
            reading.error("is none of the listeners (\(all))", at: listener.place)
        }
        return listener.value
    }

    fileprivate func identity(among names: [String]?) -> String? {
        value(.identity, .text).flatMap { identity($0, among: names) }
    }

    /// What the route's token is asked for, unless the identity decides it all.
    fileprivate func target(isUsed: Bool) -> TokenTarget? {
        let given = [RouteConfiguration.Key.scope, .audience, .resource].filter(has)
        guard !given.isEmpty else { return nil }
        if !isUsed { error(given[0], "means nothing to a route without an identity") }
        return TokenTarget(
            scope: words(.scope, .scopeToken)?.distinctValues,
            audience: words(.audience, .text)?.distinctValues,
            resource: words(.resource, .resource)?.distinctValues)
    }
}
