// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages

/// Finds the route of a request: the longest path prefix on whole segments, among those for its host and listener.
final class RouteTable: Sendable {
    private struct Candidate {
        let index: Int
        let path: [UInt8]
        let host: String?
        let listener: Int?
        let methods: Set<HTTPMethod>?
    }

    /// Longest path first; of equal ones, those for one host and one listener first.
    private let candidates: [Candidate]
    private let judgesHost: Bool
    /// How much of a path decides which route is its own: the longest, and the slash behind it.
    private let decidingCount: Int
    /// For each route that changes a target's front, how many bytes of it are dropped.
    private let exchangedCounts: [Int?]
    private static let root: ArraySlice<UInt8> = [UInt8(ascii: "/")]

    init(_ routes: [Route]) {
        let candidates = routes.enumerated().map { index, route in
            Candidate(
                index: index, path: Array(route.path.utf8), host: route.host.map(HostList.normalized),
                listener: route.listener, methods: route.methods)
        }
        self.candidates = candidates.sorted { left, right in
            let (one, other) = (Self.rank(left), Self.rank(right))
            return one == other ? left.index < right.index : one > other
        }
        decidingCount = 1 + (candidates.map(\.path.count).max() ?? 0)
        judgesHost = routes.contains { $0.host != nil }
        exchangedCounts = routes.map { $0.keepsTarget ? nil : $0.strippedCount }
    }

    /// The index of the route for a request, which came in on `listener`.
    ///
    /// - Throws: ``ProxyError/noRoute``, ``ProxyError/methodNotAllowed``, and ``ProxyError/ambiguousPath`` when the path
    ///   as sent and the path as servers may understand it belong to different routes, or the latter is not below what
    ///   the route puts in its front's place.
    func route(
        for method: HTTPMethod, _ target: [UInt8], listener: Int, host: @autoclosure () -> String?
    ) throws(ProxyError) -> Int {
        guard !method.isNeverForwarded else { throw .methodNotAllowed }
        let host = judgesHost ? host().map(HostList.normalized) : nil
        let path = judgedPath(of: target)
        let raw = bestPath(for: path.span, host: host, listener: listener)
        switch RequestPath.understanding(of: path.span, upTo: decidingCount) {
        case .asSent:
            guard let raw else { throw .noRoute }
            return try route(at: raw, allowing: method, host: host, listener: listener)
        case .anything: throw .ambiguousPath
        case .oneOf(let forms):
            for form in forms where bestPath(for: form.span, host: host, listener: listener) != raw {
                throw .ambiguousPath
            }
            guard let raw else { throw .noRoute }
            let index = try route(at: raw, allowing: method, host: host, listener: listener)
            // What stands before it upstream is the route's choice, not the client's.
            if let count = exchangedCounts[index] {
                let rest = path.dropFirst(count)
                guard !RequestPath.climbs(rest.span) else { throw .ambiguousPath }
            }
            return index
        }
    }

    /// The methods that the routes for a request's path take, for `Allow`.
    ///
    /// - Returns: `nil` where there is no such route, or one takes any method.
    func methods(for request: HTTPRequest, listener: Int) -> Set<HTTPMethod>? {
        let host = judgesHost ? request.fields[.host].map(HostList.normalized) : nil
        let path = judgedPath(of: request.targetBytes)
        guard let best = bestPath(for: path.span, host: host, listener: listener) else {
            return nil
        }
        var methods: Set<HTTPMethod> = []
        for position in best..<candidates.count where candidates[position].path == candidates[best].path {
            guard admits(position, host: host, listener: listener) else { continue }
            guard let some = candidates[position].methods else { return nil }
            methods.formUnion(some)
        }
        return methods
    }

    /// The target's path; `OPTIONS *` is about the server as a whole.
    private func judgedPath(of target: [UInt8]) -> ArraySlice<UInt8> {
        let path = target.prefix { $0 != UInt8(ascii: "?") }
        return path.first == UInt8(ascii: "*") ? Self.root : path
    }

    /// The position of the first candidate for a path.
    private func bestPath(for path: Span<UInt8>, host: String?, listener: Int) -> Int? {
        for position in candidates.indices where admits(position, host: host, listener: listener) {
            let prefix = candidates[position].path
            if RequestPath.hasPrefix(prefix.span, path) { return position }
        }
        return nil
    }

    /// Routes may share a path and differ in their methods.
    private func route(
        at best: Int, allowing method: HTTPMethod, host: String?, listener: Int
    ) throws(ProxyError) -> Int {
        let path = candidates[best].path
        for position in best..<candidates.count {
            guard candidates[position].path == path else { break }
            guard admits(position, host: host, listener: listener) else { continue }
            if candidates[position].methods?.contains(method) ?? true { return candidates[position].index }
        }
        throw .methodNotAllowed
    }

    private func admits(_ position: Int, host: String?, listener: Int) -> Bool {
        let candidate = candidates[position]
        if let wanted = candidate.listener, wanted != listener { return false }
        guard let wanted = candidate.host else { return true }
        guard let host else { return false }
        return host == wanted || host.hasPrefix(wanted + ":")
    }

    private static func rank(_ candidate: Candidate) -> Int {
        let length =
            candidate.path.last == UInt8(ascii: "/") ? candidate.path.count - 1 : candidate.path.count
        return length * 4 + (candidate.host == nil ? 0 : 2) + (candidate.listener == nil ? 0 : 1)
    }
}
