// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdRouting

/// Finds the route of a request to one listener: the longest path prefix of whole segments, among the routes
/// for its host.
///
/// The owner chooses the type by which it knows a route.
final class RouteTable<Target> {
    private struct Candidate {
        let target: Target
        /// The index in the configuration.
        let place: Int
        /// In its canonical spelling.
        let path: [UInt8]
        /// The path as configured.
        let name: String
        let host: String?
        /// True if ``host`` has a port, the only one it is for.
        let namesPort: Bool
        let isForOneListener: Bool
        let methods: Set<HTTPMethod>?
        /// The removed front of a target.
        let stripped: StrippedPrefix
        /// True if the front of a target is changed.
        let exchangesFront: Bool
        /// True if a path is put in front of the rest of a target.
        let hasPrefix: Bool
    }

    /// The longest path first; of equal paths, those for one host and for one listener first.
    private let candidates: [Candidate]
    private let prefixes: PrefixTable
    /// True if a route's path has characters that clients may spell in several ways.
    private let hasEscapes: Bool
    private let judgesHost: Bool
    /// The hosts that routes name, on any port.
    private let named: HostList
    /// The number of a path's bytes that can decide its route: those of the longest route's path and the
    /// slash behind it.
    private let decidingCount: Int
    private static var root: ArraySlice<UInt8> { [UInt8(ascii: "/")] }

    /// - Parameters:
    ///   - routes: all routes, in the order of the configuration.
    ///   - listener: the listener whose requests are looked up.
    init(_ routes: [(route: PreparedRoute, target: Target)], at listener: ListenAddress) {
        let own = routes.filter { $0.route.key.listen == nil || $0.route.key.listen == listener }
        let candidates = own.enumerated().map { place, entry in
            let (route, key) = (entry.route, entry.route.key)
            return Candidate(
                target: entry.target, place: place, path: route.canonicalPath, name: key.path,
                host: key.host.map { HostList.normalized($0.description) },
                namesPort: key.host?.port != nil, isForOneListener: key.listen != nil, methods: key.methods,
                stripped: route.stripped, exchangesFront: !route.keepsTarget,
                hasPrefix: !route.upstreamPrefix.isEmpty)
        }
        self.candidates = candidates.sorted { left, right in
            let (one, other) = (Self.rank(left), Self.rank(right))
            return one == other ? left.place < right.place : one > other
        }
        prefixes = PrefixTable(self.candidates.map(\.path))
        hasEscapes = candidates.contains { $0.path.contains(UInt8(ascii: "%")) }
        decidingCount = 1 + (candidates.map(\.path.count).max() ?? 0)
        judgesHost = candidates.contains { $0.host != nil }
        named = HostList(own.compactMap { $0.route.key.host?.onAnyPort.description })
    }

    /// Finds the route of a request.
    ///
    /// - Throws: ``ProxyError/noRoute``, ``ProxyError/methodNotAllowed``, ``ProxyError/methodRefused``, and ``ProxyError/ambiguousPath`` if
    ///   another server could find another route in the same path, leave the upstream's path prefix, or take
    ///   a leading `//` for a host.
    func route(
        for method: HTTPMethod, _ target: [UInt8], host: @autoclosure () -> String?
    ) throws(ProxyError) -> Target {
        guard !method.isNeverForwarded else {
            throw method.isConnect && isNamed(host()) ? .tunnelRefused : .methodRefused
        }
        let host = judgesHost ? host().map(HostList.normalized) : nil
        let path = judgedPath(of: target)
        let raw = bestPath(for: path, host: host)
        switch RequestPath.understanding(of: path.span, upTo: decidingCount) {
        case .asSent:
            guard let raw else { throw .noRoute }
            return candidates[try route(at: raw, allowing: method, host: host)].target
        case .anything: throw .ambiguousPath
        case .oneOf(let forms):
            for form in forms where bestPath(spelled: form.span, host: host) != raw {
                throw .ambiguousPath
            }
            guard let raw else { throw .noRoute }
            let position = try route(at: raw, allowing: method, host: host)
            let rest = path.dropFirst(candidates[position].stripped.count(in: path.span))
            // The path before it upstream is the route's choice, not the client's.
            if candidates[position].exchangesFront, RequestPath.climbs(rest.span) { throw .ambiguousPath }
            // Some servers resolve a target as a URL, and take what follows for a host (RFC 3986 §4.2).
            if !candidates[position].hasPrefix, RequestPath.namesHost(rest.span) { throw .ambiguousPath }
            return candidates[position].target
        }
    }

    /// The methods that the routes of the request's path accept, for `Allow`.
    ///
    /// - Returns: nil if there is no such route, or if one accepts any method.
    func methods(for request: HTTPRequest) -> Set<HTTPMethod>? {
        let host = judgesHost ? request.fields[.host].map(HostList.normalized) : nil
        guard let best = bestPath(for: request, host: host) else { return nil }
        var methods: Set<HTTPMethod> = []
        for position in prefixes.sharing(best) where candidates[position].path == candidates[best].path {
            guard position >= best, admits(position, host: host) else { continue }
            guard let some = candidates[position].methods else { return nil }
            methods.formUnion(some)
        }
        return methods
    }

    /// The path of the routes that a request would be for, if one accepted its method; nil if there is none.
    func routePath(for request: HTTPRequest) -> String? {
        let host = judgesHost ? request.fields[.host].map(HostList.normalized) : nil
        return bestPath(for: request, host: host).map { candidates[$0].name }
    }

    /// The first hosts that routes of the request's path are for, in the order of the configuration; the request, which no
    /// route takes, is for another one.
    ///
    /// - Parameter most: the most hosts.
    func routedHosts(for request: HTTPRequest, atMost most: Int) -> [String] {
        let path = RequestPath.canonical(judgedPath(of: request.targetBytes).span)
        var hosts: [(place: Int, host: String)] = []
        for candidate in candidates {
            let prefix =
                candidate.path.last == UInt8(ascii: "/") ? candidate.path.dropLast() : candidate.path[...]
            guard let host = candidate.host, path.starts(with: prefix),
                path.count == prefix.count || path.dropFirst(prefix.count).first == UInt8(ascii: "/")
            else { continue }
            hosts.append((candidate.place, host))
        }
        var told: [String] = []
        for (_, host) in hosts.sorted(by: { $0.place < $1.place }) where !told.contains(host) {
            told.append(host)
            if told.count == most { break }
        }
        return told
    }

    private func bestPath(for request: HTTPRequest, host: String?) -> Int? {
        bestPath(for: judgedPath(of: request.targetBytes), host: host)
    }

    /// The path of the target; `OPTIONS *`, which is about the whole server, counts as `/`.
    private func judgedPath(of target: [UInt8]) -> ArraySlice<UInt8> {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        return path.first == UInt8(ascii: "*") ? Self.root : path
    }

    /// The index of the first candidate for a path as sent.
    @inline(__always)
    private func bestPath(for path: ArraySlice<UInt8>, host: String?) -> Int? {
        // Without an escape in any route, characters that have several spellings match none, whatever their spelling.
        guard hasEscapes else { return bestPath(spelled: path.span, host: host) }
        return bestPath(spelled: RequestPath.canonical(path.span).span, host: host)
    }

    /// The index of the first candidate for a path in its canonical spelling.
    private func bestPath(spelled path: Span<UInt8>, host: String?) -> Int? {
        prefixes.longest(of: path) { admits($0, host: host) }
    }

    /// The first candidate of the same path that accepts the method.
    private func route(
        at best: Int, allowing method: HTTPMethod, host: String?
    ) throws(ProxyError) -> Int {
        guard candidates[best].methods != nil else { return best }
        for position in prefixes.sharing(best) where candidates[position].path == candidates[best].path {
            guard position >= best, admits(position, host: host) else { continue }
            if candidates[position].methods?.contains(method) ?? true { return position }
        }
        throw .methodNotAllowed
    }

    private func admits(_ position: Int, host: String?) -> Bool {
        guard let wanted = candidates[position].host else { return true }
        guard let host else { return false }
        return host == wanted || host.hasPrefix(wanted + ":")
    }

    /// Returns true if a route names this host, rather than any host.
    private func isNamed(_ host: String?) -> Bool {
        // A CONNECT names the port of the tunnel, which is that of `https`.
        host.map { named.contains($0) } ?? false
    }

    private static func rank(_ candidate: Candidate) -> Int {
        let length =
            candidate.path.last == UInt8(ascii: "/") ? candidate.path.count - 1 : candidate.path.count
        let host = candidate.host == nil ? 0 : candidate.namesPort ? 4 : 2
        return length * 6 + host + (candidate.isForOneListener ? 1 : 0)
    }
}
