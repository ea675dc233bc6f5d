// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdSystem
import BearerdTokenStore
import OAuth

extension Configuration {
    /// True if commands of `on_state_change` are configured; their needs are unknown, and a sandbox would
    /// confine them too.
    var runsCommands: Bool { !commandsOnStateChange.isEmpty }

    /// The sandbox for a daemon whose listeners are bound.
    ///
    /// - Parameters:
    ///   - file: the configuration file; nil if there is none.
    ///   - store: the directory of the sessions; nil if they are not in files.
    func sandbox(file: String?, store: String?) -> Sandbox {
        var sandbox = Sandbox()
        for path in Self.systemFiles { sandbox.allow(fixed: path) }
        for path in Self.resolverFiles { sandbox.allow(file: path) }
        for path in [file, TrustStore.systemFile].compactMap(\.self) + files { sandbox.allow(file: path) }
        if let store {
            let configured = self.store.directory ?? store
            sandbox.allow(
                replacing: store,
                isParentDedicated: store.hasPrefix(configured) && store.utf8.count > configured.utf8.count)
        }
        for path in sockets { sandbox.allow(socket: path) }
        // A program that rotates it makes another file of its name.
        if let audit, !OpenedFile.isStream(audit.file) { sandbox.allow(creatingIn: audit.file) }
        sandbox.allow(writing: "/dev/null")
        sandbox.connectPorts = knownPorts
        // A file can be read again, and may have other listeners then.
        sandbox.deniesBinding = file == nil
        return sandbox
    }

    /// Libraries that are loaded late (name services, OpenSSL's modules), and the files that they read.
    ///
    /// libdispatch looks at its threads under `/proc`, by numbers that are not known beforehand. For other
    /// processes `/proc` shows only public facts, because the kernel asks Landlock too before it shows
    /// memory, environment or descriptors.
    private static let systemFiles = [
        "/usr", "/lib", "/lib64", "/etc/ld.so.cache", "/etc/ssl", "/etc/pki", "/etc/nsswitch.conf",
        "/etc/host.conf",
        "/etc/gai.conf", "/etc/services", "/etc/localtime", "/dev/urandom", "/sys/devices/system/cpu",
        "/proc",
    ]

    /// Files that other programs replace while the daemon runs.
    private static let resolverFiles = ["/etc/resolv.conf", "/etc/hosts", "/etc/passwd"]

    /// The files that the configuration names and that are read again.
    var files: [String] {
        var files = tls?.files ?? []
        var sources: [SecretSource?] = access.keys.map(\.source) + [admin?.key]
        for identity in identities { sources += identity.credentials.values.map { $0 } }
        for case .file(let path)? in sources { files.append(path) }
        files += store.files
        for transport in identities.map(\.transport) + routes.map(\.transport) {
            files += [
                transport.caFile, transport.clientCertificate?.certificateFile,
                transport.clientCertificate?.keyFile,
            ].compactMap(\.self)
        }
        return files
    }

    /// The Unix sockets that are listened on; their files are removed with the listeners.
    private var sockets: [String] {
        let addresses = listen.map { $0 } + [admin?.listen].compactMap(\.self)
        return addresses.compactMap { if case .unix(let path) = $0 { path } else { nil } }
    }

    /// The TCP ports that are connected to; nil if metadata of a provider, or the environment, decides.
    var knownPorts: Set<UInt16>? {
        var ports: Set<UInt16> = [Self.namePort]
        for identity in identities {
            if let source = identity.client.source {
                guard let port = identity.transport.connectedPorts([source.server].compactMap(\.self)) else {
                    return nil
                }
                ports.formUnion(port)
                continue
            }
            guard identity.client.issuer == nil, identity.client.discoveryURL == nil,
                let port = identity.transport.connectedPorts(identity.client.endpoints.values.map { $0 })
            else { return nil }
            ports.formUnion(port)
        }
        for route in routes {
            guard let port = route.transport.connectedPorts([route.upstream]) else { return nil }
            ports.formUnion(port)
        }
        if case .redis(let redis) = store {
            // Where the master is only its sentinels know.
            guard redis.sentinels.isEmpty else { return nil }
            if case .tcp(_, let port) = redis.location.place { ports.insert(port) }
        }
        if let collector = telemetry.tracesEndpoint { ports.insert(collector.port) }
        return ports
    }

    /// The keys that name servers at other ports than these.
    func keys(beyond ports: Set<UInt16>) -> [String] {
        let routes = distinctRoutes.filter { route in
            !(route.transport.connectedPorts([route.upstream])?.isSubset(of: ports) ?? false)
        }
        if let collector = telemetry.tracesEndpoint, !ports.contains(collector.port) {
            return ["telemetry.otlp_endpoint"]
        }
        guard routes.isEmpty else { return routes.map { "routes[\($0.position)].upstream" } }
        return ["identities"]
    }

    /// Name servers are asked over TCP if an answer is long (RFC 7766).
    private static let namePort: UInt16 = 53
}

extension TransportConfiguration {
    /// The ports at which these servers are reached; nil if they are unknown.
    fileprivate func connectedPorts(_ servers: [HTTPURL]) -> Set<UInt16>? {
        guard case .none = proxy else { return nil }
        if let connectTo { return [connectTo.port] }
        return Set(servers.filter { $0.scheme != .unix }.map(\.port))
    }
}
