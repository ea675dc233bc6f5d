// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdRouting
internal import BearerdTLS
internal import BearerdYAML
internal import OAuth

extension Configuration {
    /// Reads the whole file; the value is of use only if no error was reported.
    init(reading root: Section<RootKey>) {
        let isUnsafe = root.flag(.unsafeListen)
        allowsUnsafeListen = isUnsafe ?? false
        listeners = root.listeners(isUnsafe: isUnsafe)
        let listen = listeners.map(\.address)
        tls = root.has(.tls) ? TLSConfiguration(reading: root.section(.tls)) : nil
        workers = root.value(.workers, .integer(in: 1...1024))?.value
        access = AccessConfiguration(reading: root.section(.access))
        limits = LimitsConfiguration(reading: root.section(.limits))
        timeouts = TimeoutsConfiguration(reading: root.section(.timeouts))
        shutdown = ShutdownConfiguration(reading: root.section(.shutdown))
        development = DevelopmentConfiguration(reading: root.section(.development))
        onStateChange = root.hook(.onStateChange) ?? []
        log = LogConfiguration(reading: root.section(.log))
        audit = root.has(.audit) ? AuditConfiguration(reading: root.section(.audit)) : nil
        telemetry = TelemetryConfiguration(reading: root.section(.telemetry))
        admin = root.has(.admin) ? AdminConfiguration(reading: root.section(.admin)) : nil
        store = StoreConfiguration(reading: root.section(.store))
        reload = root.value(.reload, .word, default: .manual)
        root.checkAddresses(listen, admin: admin, development: development)
        root.checkStrangers(listen, tls: tls, access: access)
        root.checkHosts(listen, access: access)
        root.checkPeers(listen, access: access)

        let (timeouts, admin) = (timeouts, admin?.listen)
        let named = root.namedSections(.identities, usable: IdentityKey.usable(beside:))
        let identities = (named ?? []).compactMap { name, section in
            let identity =
                section.has(.source)
                ? IdentityConfiguration(readingSource: section, name: name, timeouts: timeouts)
                : IdentityConfiguration(reading: section, name: name, timeouts: timeouts)
            if let identity { section.checkRedirect(of: identity, beside: listen, admin: admin) }
            return identity
        }
        let context = RouteConfiguration.Context(
            listeners: root.isInDoubt(.listen) ? [] : listen,
            ownAddresses: listen + [admin].compactMap { $0 },
            identities: named?.map(\.name.value),
            sources: Dictionary(
                identities.map { ($0.name, $0.client.source) }, uniquingKeysWith: { first, _ in first }
            ).compactMapValues(\.self),
            audienceObjections: Dictionary(
                identities.map { ($0.name, $0.preset?.objectionToRouteAudience(of: $0.client)) },
                uniquingKeysWith: { first, _ in first }
            ).compactMapValues(\.self), timeouts: timeouts.upstream, peers: root.peers(by: access))
        let routes = root.routes(in: context)
        self.routes = routes
        root.checkHeads(limits, listeners: listeners, routes: routes)
        self.identities = identities.map { $0.serving(routes) }
    }
}

extension Section<RootKey> {
    fileprivate func listeners(isUnsafe flag: Bool?) -> [ListenerConfiguration] {
        let isUnsafe = flag ?? true || has(.tls) || isInDoubt(.tls)
        guard has(.listen) else {
            return [.init(address: .tcp(host: "127.0.0.1", port: 8080), protocols: .either)]
        }
        let either = ValueKind<ListenAddress>.listenAddress(in: reading).map { address in
            ListenerConfiguration(address: address, protocols: .either)
        }
        guard let listeners = oneOrMany(.listen, either, or: ListenerConfiguration.reading) else { return [] }
        if listeners.isEmpty { error(.listen, "needs at least one address") }
        for listener in listeners where !listener.value.address.isLoopback && !isUnsafe {
            reading.error("plain HTTP off loopback needs unsafe_listen: true", at: listener.place)
        }
        for listener in listeners { reading.judgeDirectory(of: listener.map(\.address)) }
        return listeners.map(\.value)
    }

    /// Warns that neither plain HTTP nor TLS keeps strangers away off loopback: TLS proves who we are, not who
    /// clients are.
    fileprivate func checkStrangers(
        _ listen: [ListenAddress], tls: TLSConfiguration?, access: AccessConfiguration
    ) {
        guard access.keys.isEmpty, let open = listen.first(where: { !$0.isLoopback }) else { return }
        let keys = section(.access, AccessConfiguration.Key.self)
        guard !keys.isInDoubt(.key), !keys.isInDoubt(.keys), !keys.has(.keys) else { return }
        guard ![RootKey.unsafeListen, .tls, .access].contains(where: isInDoubt) else { return }
        guard let tls else {
            guard !has(.tls) else { return }  // it could not be read
            warn(
                .unsafeListen,
                "whoever can reach \(open) may use the tokens, and so may web pages in the browsers of those who can, which tell little of where a request to plain HTTP comes from; access.key keeps them out"
            )
            return
        }
        guard tls.clientCAFile == nil else { return }
        warn(
            .tls,
            "whoever can reach \(open) may use the tokens; client_ca_file or access.key would tell clients apart"
        )
    }

    /// Warns of a wildcard listener without `access.hosts`: it has no name by which callers elsewhere could mean it.
    fileprivate func checkHosts(_ listen: [ListenAddress], access: AccessConfiguration) {
        guard access.hosts == nil, let open = listen.first(where: \.isEveryAddress) else { return }
        let section = section(.access, AccessConfiguration.Key.self)
        guard ![.hosts, .key].contains(where: section.isInDoubt) else { return }
        guard ![RootKey.unsafeListen, .tls, .access].contains(where: isInDoubt) else { return }
        warn(
            .listen,
            "callers of \(open) that call it anything but localhost get 421: list the names they use in access.hosts"
        )
    }

    /// Warns of users that are listed though nobody knows them: of TCP connections the user is not asked for.
    fileprivate func checkPeers(_ listen: [ListenAddress], access: AccessConfiguration) {
        guard access.peerUserIDs != nil, !isInDoubt(.listen), !listen.isEmpty, listen.allSatisfy(\.isTCP)
        else { return }
        section(.access, AccessConfiguration.Key.self).warn(
            .peerUserIDs,
            "keeps nobody out: it counts on Unix sockets alone, and listen has none; access.key does on TCP")
    }

    /// Warns of a limit on heads that HTTP/2 holds for no single field: its decoder has one of its own.
    fileprivate func checkHeads(
        _ limits: LimitsConfiguration, listeners: [ListenerConfiguration], routes: [RouteConfiguration]
    ) {
        guard limits.headerBytes > 64 << 10 else { return }
        let speaksHTTP2 =
            listeners.contains { $0.protocols != .http1 }
            || routes.contains { $0.upstreamProtocol != .http1 }
        guard speaksHTTP2 else { return }
        section(.limits, LimitsConfiguration.Key.self).warn(
            .headerBytes, "over HTTP/2 a single field is at most 64 KiB: a larger one ends the connection")
    }

    /// Reports an address that is listened on twice.
    fileprivate func checkAddresses(
        _ listen: [ListenAddress], admin: AdminConfiguration?, development: DevelopmentConfiguration
    ) {
        var taken: [ListenAddress] = []
        let others: [(RootKey, ListenAddress?)] = [
            (.admin, admin?.listen), (.development, development.provider), (.development, development.api),
        ]
        for (key, address) in listen.map({ (RootKey.listen, Optional($0)) }) + others {
            guard let address, !address.isAnyFreePort else { continue }
            if let other = taken.first(where: { $0.overlaps(address) }) {
                error(
                    key,
                    "\(address) is listened on twice" + (other == address ? "" : ": it is in \(other), too"))
            }
            taken.append(address)
        }
    }

    /// The users that may connect to Unix sockets.
    fileprivate func peers(by access: AccessConfiguration) -> RouteConfiguration.Peers {
        if let users = access.peerUserIDs { return .listed(users) }
        let section = section(.access, AccessConfiguration.Key.self)
        return isInDoubt(.access) || section.isInDoubt(.peerUserIDs) ? .inDoubt : .own
    }

    fileprivate func routes(in context: RouteConfiguration.Context) -> [RouteConfiguration] {
        guard let sections = sections(.routes, RouteConfiguration.Key.self) else { return [] }
        if sections.isEmpty { error(.routes, "there are none: at least one is needed") }
        var routes: [RouteConfiguration] = []
        var seen: [ArraySlice<UInt8>: [(key: RouteKey, place: Place)]] = [:]
        for (position, section) in sections.enumerated() {
            let own = RouteConfiguration.routes(reading: section, at: position, in: context)
            guard let route = own.first else { continue }
            routes += own
            let selecting: [RouteConfiguration.Key] = [.path, .host, .listen, .methods]
            if selecting.contains(where: section.isInDoubt) { continue }
            let path = route.key.pathWithoutLastSlash
            if let twin = seen[path]?.first(where: { $0.key.selectsTheSame(as: route.key) }) {
                section.reading.error(
                    "selects the same requests as \(twin.place.path) on line \(twin.place.mark.line)",
                    at: section.place)
            }
            seen[path, default: []].append((route.key, section.place))
        }
        return routes
    }
}

extension ListenAddress {
    /// True for the wildcard address of either family.
    fileprivate var isEveryAddress: Bool {
        switch self {
        case .tcp(let host, _): host == "0.0.0.0" || host == "::"
        case .unix, .systemd, .descriptor: false
        }
    }

    /// True for port 0, which two listeners may both ask for.
    fileprivate var isAnyFreePort: Bool {
        switch self {
        case .tcp(_, let port): port == 0
        case .unix, .systemd, .descriptor: false
        }
    }
}

extension RouteKey {
    /// Returns true if a request could match both keys, with nothing to prefer one; they have the same path.
    fileprivate func selectsTheSame(as other: RouteKey) -> Bool {
        guard host == other.host, listen == other.listen else { return false }
        guard let methods, let otherMethods = other.methods else { return true }
        return !methods.isDisjoint(with: otherMethods)
    }

    fileprivate var pathWithoutLastSlash: ArraySlice<UInt8> {
        let path = canonicalPath
        return path.last == UInt8(ascii: "/") ? path.dropLast() : path[...]
    }
}
