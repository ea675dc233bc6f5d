// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import BearerdHTTPClient
import BearerdHTTPMessages
import BearerdObservability
import BearerdProxy
import BearerdRouting

/// The text of `check --explain`: the route of a request, and the rule that allows it.
struct RequestExplanation {
    /// True if the request would be forwarded.
    let isAllowed: Bool
    /// The explanation for people.
    let text: String

    /// Judges a request by a configuration.
    ///
    /// - Parameters:
    ///   - method: the request's method.
    ///   - url: the URL that the client would use, of a listener, or a path.
    init(_ method: String, _ url: String, by configuration: Configuration) throws(CommandFailure) {
        guard let first = configuration.listen.first, let asked = AskedURL(url) else {
            throw CommandFailure(
                .usage, "'\(url)' is neither a URL like http://127.0.0.1:8080/orders nor a path like /orders")
        }
        let named = configuration.listen.first(where: asked.names)
        let listener = named ?? first
        // Of several listeners, the URL may be of one that no URL names (`unix:`).
        let isKnown = asked.authority != nil && (named != nil || configuration.listen.count == 1)
        let configured = configuration.distinctRoutes
        let routes = configured.map {
            PreparedRoute(
                $0.key.ofAnyUser, to: SharedUpstream(UpstreamAddress(url: $0.upstream)), on: $0.terms)
        }
        let verdict = RequestVerdict(
            method, asked.target, host: asked.authority ?? listener.host, on: routes, at: listener,
            answeringTo: isKnown ? configuration.hosts(of: listener) : nil,
            limits: configuration.headLimits)
        var lines = [
            "request  \(method) \(asked.target)",
            "listener \(listener) (\(Self.spoken(at: listener, of: configuration)))",
        ]
        switch verdict {
        case .allowed(let route, let rule):
            isAllowed = true
            lines += Self.lines(of: configuration, route)
            lines.append("rule     \(Self.text(of: rule, of: configured[route], at: route))")
            lines.append("allowed")
        case .denied(let route, let rejection):
            isAllowed = false
            lines += Self.lines(of: configuration, route)
            lines.append("rule     none of routes[\(route)].allow")
            lines.append("denied   \(rejection.status) \(rejection.code.rawValue): \(rejection.detail)")
        case .refused(let rejection):
            isAllowed = false
            lines.append("route    none")
            lines.append("refused  \(rejection.status) \(rejection.code.rawValue): \(rejection.detail)")
        }
        text = lines.map { $0.printable + "\n" }.joined()
    }

    private static func lines(of configuration: Configuration, _ index: Int) -> [String] {
        let routes = configuration.routes.filter { $0.position == index }
        let lines = [
            "route    routes[\(index)] \(routes[0].key.path)",
            "upstream \(routes[0].upstream)\(routes[0].spokenProtocol)",
        ]
        let identities = routes.map { route in
            (route.identity ?? RouteConfiguration.noIdentity)
                + (route.key.user.map { " for uid \($0)" } ?? "")
        }
        let others = routes[0].key.user == nil ? "" : "; 403 access_denied for any other"
        return lines + ["identity \(identities.joined(separator: ", "))\(others)"]
    }

    private static func spoken(at address: ListenAddress, of configuration: Configuration) -> String {
        configuration.listeners.first { $0.address == address }?.spokenProtocols ?? ""
    }

    private static func text(of rule: Int?, of route: RouteConfiguration, at index: Int) -> String {
        guard let rule, let allow = route.terms.rules else { return "none is needed: the route has no allow" }
        let methods = allow.rules[rule].methods.map { $0.map(\.rawValue).sorted().joined(separator: ",") }
        return "routes[\(index)].allow[\(rule)] \(methods ?? "any method") \(allow.rules[rule].path.text)"
    }
}

/// The URL of a request, split but not normalised, so that its oddities are judged too.
private struct AskedURL {
    /// nil if only a path was given.
    let authority: String?
    let port: UInt16?
    let target: String

    init?(_ text: String) {
        guard !text.hasPrefix("/"), text != "*" else {
            authority = nil
            port = nil
            target = text
            return
        }
        let schemes: [(String, UInt16)] = [("http://", 80), ("https://", 443)]
        guard let (scheme, standard) = schemes.first(where: { text.lowercased().hasPrefix($0.0) }) else {
            return nil
        }
        let rest = text.dropFirst(scheme.count)
        let end = rest.firstIndex { "/?#".contains($0) } ?? rest.endIndex
        let authority = String(rest[..<end])
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        self.authority = authority
        port = HTTPURL("\(scheme)\(authority)")?.port ?? standard
        target = rest[end...].hasPrefix("/") ? String(rest[end...]) : "/\(rest[end...])"
    }

    func names(_ listener: ListenAddress) -> Bool {
        guard case .tcp(_, let port) = listener else { return false }
        return port == self.port
    }
}

extension Configuration {
    /// The hosts that the listener answers to; nil where they follow from an address that only the daemon knows.
    fileprivate func hosts(of listener: ListenAddress) -> HostList? {
        var names = allowedHosts
        if access.hosts == nil {
            switch listener {
            case .tcp(_, 0), .systemd, .descriptor: return nil
            case .tcp, .unix: names = HostNames.of(listener, scheme: tls == nil ? .http : .https)
            }
        }
        return HostList(names + routedHosts(at: listener))
    }
}

extension ListenAddress {
    /// The `Host` of a request that names the listener itself.
    fileprivate var host: String {
        guard case .tcp = self else { return "localhost" }
        return description
    }
}
