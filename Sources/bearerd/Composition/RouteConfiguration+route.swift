// SPDX-License-Identifier: Apache-2.0

import Configuration
import Cryptography
import HTTPClient
import HTTPMessages
import OAuth
import Proxy

extension RouteConfiguration {
    /// Where its upstream is.
    ///
    /// - Parameter trust: parses each CA file once.
    func address(trust: TrustStores) throws(TrustStore.LoadError) -> UpstreamAddress {
        UpstreamAddress(
            url: upstream,
            transport: try transport.transport(encrypted: upstream.scheme == .https, trust: trust))
    }

    /// How long connections to its upstream are used.
    var lifetimes: UpstreamPool.Lifetimes {
        UpstreamPool.Lifetimes(idle: timeouts.idle ?? .zero, age: timeouts.age ?? .zero)
    }

    /// The route as the workers serve it.
    func route(to shared: SharedUpstream, session: AuthSession?, tokenWait: Duration) -> Route {
        let authority = upstream.socketPath == nil ? upstream.authority : "localhost"
        var route = Route(
            path: path, upstream: shared,
            upstreamAuthority: authority,
            upstreamPrefix: upstream.path.hasSuffix("/") ? String(upstream.path.dropLast()) : upstream.path,
            upstreamOrigins: [origin(of: authority)])
        route.host = host?.description
        route.listener = listen.map { ListenerKey($0) }
        route.methods = methods
        route.stripPrefix = stripsPrefix
        route.rules = allow
        route.session = session
        route.authorization = authorization.policy
        route.credentials = RequestAuthorization.Field(name: header, scheme: scheme)
        route.hostField = hostHeader.field
        if case .value(let host) = route.hostField { route.upstreamOrigins.append(origin(of: host)) }
        route.requestEdits = requestHeaders.edits
        if allow != nil { route.requestEdits.remove += Self.overrides }
        route.responseEdits = responseHeaders.edits
        route.forwarded = forwarded.policy
        route.via = via
        route.upgrade = upgrade.map { $0.lowercased() }
        route.retryOnStatus = retryOnStatus
        route.replayBuffer = replayBuffer
        route.onNoToken = onNoToken == .pass ? .pass : .fail
        route.timeouts.connect = timeouts.connect ?? .zero
        route.timeouts.firstByte = timeouts.firstByte ?? .zero
        route.timeouts.streamIdle = timeouts.streamIdle ?? .zero
        route.timeouts.tokenWait = tokenWait
        return route
    }

    /// With these some upstreams take a request for another one than its method and path say, which rules judge.
    private static let overrides = [
        "X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "X-Original-URL", "X-Original-URI",
        "X-Rewrite-URL",
    ].compactMap { HTTPFields.Name($0) }

    /// The upstream's scheme and an authority that it has.
    private func origin(of authority: String) -> String {
        let port = upstream.scheme == .https ? ":443" : ":80"
        let name = authority.hasSuffix(port) ? authority.dropLast(port.count) : authority[...]
        return "\(upstream.scheme == .https ? "https" : "http")://\(name.lowercased())"
    }
}

extension TransportConfiguration {
    /// How libcurl connects to a server.
    ///
    /// - Parameters:
    ///   - encrypted: whether TLS may be spoken to it.
    ///   - trust: parses each CA file once.
    /// - Throws: `TrustStore.LoadError`.
    func transport(encrypted: Bool, trust: TrustStores) throws(TrustStore.LoadError) -> Transport {
        let needsTrust = encrypted || proxy.isSet
        return Transport(
            trust: needsTrust ? try trust.store(caFile: caFile) : nil,
            clientCertificateFile: clientCertificate?.certificateFile,
            clientKeyFile: clientCertificate?.keyFile,
            proxy: proxy.setting,
            connectTo: connectTo.flatMap { ConnectDestination($0.description) },
            skipsVerification: skipsVerification)
    }
}

extension ProxyConfiguration {
    fileprivate var isSet: Bool {
        switch self {
        case .none: false
        case .environment, .url: true
        }
    }

    fileprivate var setting: Transport.Proxy {
        switch self {
        case .none: .none
        case .environment: .environment
        case .url(let url): url.withPlaintext { .url($0) }
        }
    }
}

extension RouteConfiguration.AuthorizationPolicy {
    fileprivate var policy: Route.AuthorizationPolicy {
        switch self {
        case .overwrite: .overwrite
        case .preserve: .preserve
        case .reject: .reject
        }
    }
}

extension RouteConfiguration.HostHeader {
    fileprivate var field: Route.HostField {
        switch self {
        case .upstream: .upstream
        case .preserve: .preserve
        case .value(let value): .value(value)
        }
    }
}

extension RouteConfiguration.ForwardedPolicy {
    fileprivate var policy: Route.ForwardedPolicy {
        switch self {
        case .none: .none
        case .replace: .replace
        case .append: .append
        }
    }
}

extension HeaderEdits {
    fileprivate var edits: FieldEdits {
        FieldEdits(
            remove: remove, set: self.set.map { ($0.name, $0.value) }, add: add.map { ($0.name, $0.value) })
    }
}
