// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdRouting
internal import OAuth

extension RouteConfiguration {
    /// The rest of the configuration, as far as routes must fit it.
    struct Context {
        let listeners: [ListenAddress]
        /// The addresses of all our listeners, which must not be upstreams.
        let ownAddresses: [ListenAddress]
        /// The names of all identities, faulty ones included; nil if they could not be read.
        let identities: [String]?
        /// The sources of identities without an authorization server, by name.
        let sources: [String: TokenSource]
        /// The reasons against an `audience` of a route, by the name of its identity.
        let audienceObjections: [String: String]
        /// The defaults for a route's time-outs.
        let timeouts: UpstreamTimeouts
        let peers: Peers
    }

    /// The users that may connect to Unix sockets, as far as the file tells.
    enum Peers {
        /// The users of `access.peer_uids`.
        case listed(Set<UInt32>)
        /// The daemon's own user and root.
        case own
        /// The file's value could not be read.
        case inDoubt
    }

    /// One route, or one for each user that the item names.
    ///
    /// - Parameter position: the item's index in the list.
    /// - Returns: none if something indispensable is missing, which is reported.
    static func routes(
        reading section: Section<Key>, at position: Int, in context: Context
    ) -> [RouteConfiguration] {
        section.require(.identity, "is missing: name one, or 'none' to forward without a token")
        guard section.hasMap(.identity) else {
            let identity = section.identity(among: context.identities)
            let hasIdentity = identity != nil || section.isInDoubt(.identity)
            guard
                var route = RouteConfiguration(
                    reading: section, at: position, hasIdentity: identity != nil, mayAim: hasIdentity,
                    in: context)
            else { return [] }
            route.carry(identity, in: context, section)
            return [route]
        }
        let users = section.identitiesByUser(in: context)
        let hasIdentity = users.isEmpty || users.contains { $0.identity != nil }
        guard
            let route = RouteConfiguration(
                reading: section, at: position, hasIdentity: hasIdentity, mayAim: hasIdentity,
                in: context)
        else { return [] }
        return users.map { user, identity in
            var own = route
            own.key.user = user
            own.carry(identity, in: context, section)
            if identity == nil { own.target = nil }
            return own
        }
    }

    /// Has the route carry an identity's token, in the scheme of its source where the file names none.
    private mutating func carry(_ identity: String?, in context: Context, _ section: Section<Key>) {
        self.identity = identity
        section.checkTarget(of: identity, with: identity.flatMap { context.sources[$0] })
        if section.has(.audience), let objection = identity.flatMap({ context.audienceObjections[$0] }) {
            section.warn(.audience, objection)
        }
        guard let source = identity.flatMap({ context.sources[$0] }), !section.has(.scheme) else { return }
        terms.credentials.scheme = source.scheme
    }

    /// Reads everything but the identity.
    ///
    /// - Returns: nil if something indispensable is missing, which is reported.
    private init?(
        reading section: Section<Key>, at position: Int, hasIdentity: Bool, mayAim: Bool,
        in context: Context
    ) {
        self.position = position
        key = RouteKey(reading: section, among: context.listeners)
        target = section.target(isUsed: mayAim)
        terms = RouteTerms(reading: section, hasIdentity: hasIdentity, timeouts: context.timeouts)
        transport = TransportConfiguration(reading: section, skipsVerification: false)

        upstreamProtocol = section.value(.upstreamProtocol, .word, default: .http1)

        section.require(.upstream)
        let allowsInsecure = section.flag(.allowInsecureUpstream) ?? true || section.isInDoubt(.connectTo)
        guard let upstream = section.value(.upstream, .upstream(in: section.reading))?.value
        else { return nil }
        self.upstream = upstream
        let isLoopback = transport.connectTo?.isLoopback ?? upstream.isLoopback
        if upstream.scheme == .http, !isLoopback, !allowsInsecure {
            section.error(
                .upstream,
                "plain http off loopback shows the token: say https://, or, if it has to be, give its route allow_insecure_upstream: true in a configuration file"
            )
        }
        if terms.tokenQuery != nil, upstream.scheme == .http, !isLoopback {
            section.error(
                .query,
                "puts the token into the target, which plain http shows to everybody on the way: use https")
        }
        if upstreamProtocol == .auto, upstream.scheme != .https {
            section.warn(
                .upstreamProtocol,
                "means http1 without TLS, where nothing is negotiated; h2 speaks HTTP/2 there")
        }
        if let own = context.ownAddresses.first(where: {
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

    /// The route's own token target; nil if the identity decides.
    fileprivate func target(isUsed: Bool) -> TokenTarget? {
        let given = RouteConfiguration.Key.targets.filter(has)
        guard !given.isEmpty else { return nil }
        if !isUsed { error(given[0], "means nothing to a route without an identity") }
        return TokenTarget(
            scope: words(.scope, .scopeToken)?.distinctValues,
            audience: words(.audience, .text)?.distinctValues,
            resource: words(.resource, .resource)?.distinctValues,
            repositories: repositories(.repositories), permissions: permissions(.permissions))
    }
}

extension RouteConfiguration.Key {
    /// The keys that ask for a token of the route's own.
    fileprivate static let targets: [RouteConfiguration.Key] = [
        .scope, .audience, .resource, .repositories, .permissions,
    ]
}

extension Section<RouteConfiguration.Key> {
    /// Reports what the route asks for and its identity's source, or authorization server, knows nothing of.
    fileprivate func checkTarget(of identity: String?, with source: TokenSource?) {
        guard let identity, !isInDoubt(.identity) else { return }
        let known: [RouteConfiguration.Key]
        let place: String
        if let source {
            place = "source: \(source.name.rawValue)"
            known =
                switch source.name {
                case .fixed, .basic, .command: []
                case .googleMetadata: [.scope, .audience]
                case .azureIdentity: [.resource]
                case .gitHubApp: [.repositories, .permissions]
                }
        } else {
            place = "an authorization server"
            known = [.scope, .audience, .resource]
        }
        for key in RouteConfiguration.Key.targets where has(key) && !known.contains(key) {
            error(key, "means nothing to \(place), where the token of \(identity) comes from")
        }
        if source?.name == .googleMetadata, has(.scope), has(.audience) {
            error(.scope, "asks for an access token, and audience for an identity token: give one of the two")
        }
        let single: [RouteConfiguration.Key] =
            source?.name == .googleMetadata ? [.audience] : source?.name == .azureIdentity ? [.resource] : []
        for key in single {
            if let values = words(key, .text), values.count != 1 { error(key, "is one value with \(place)") }
        }
    }
}
