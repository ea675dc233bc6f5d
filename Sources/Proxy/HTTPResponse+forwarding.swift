// SPDX-License-Identifier: Apache-2.0

internal import HTTPTypes

extension HTTPResponse {
    private static let chunkedLine = Array("Transfer-Encoding: chunked\r\n".utf8)
    private static let closeLine = Array("Connection: close\r\n".utf8)
    private static let keepAliveLine = Array("Connection: keep-alive\r\n".utf8)

    /// What the client's side of an answer needs to know.
    struct Delivery {
        /// Whether the body is sent in chunks.
        var isChunked: Bool
        /// Whether the client may send another request afterwards.
        var persists: Bool
        /// The client's HTTP version.
        var version: HTTPVersion
        /// The scheme and authority the client used, if there is a `Location`; `nil` on a Unix socket.
        var clientOrigin: String?
        /// The upstream's origin by the client's own `Host`, if it is told that and there is a `Location`.
        var toldOrigin: String?
    }

    /// Makes this head, as the upstream sent it, the head that the client gets.
    mutating func rewrite(for state: RouteState, delivery: Delivery) {
        // A 426 says to what (RFC 9110 15.5.22).
        let demanded = status == 426 ? state.route.passableProtocols(in: fields) : nil
        fields.removeHopByHop()
        if let demanded {
            fields.append(.connection, "Upgrade")
            fields.append(.upgrade, demanded)
        }
        if status == 204 { fields.remove(.contentLength) }  // RFC 9110 8.6
        if fields.has(.location) { rewriteLocation(for: state, delivery: delivery) }
        if !state.route.responseEdits.isEmpty { state.route.responseEdits.apply(to: &fields) }
        if delivery.isChunked { fields.append(line: Self.chunkedLine, of: .transferEncoding) }
        if !delivery.persists {
            fields.append(line: Self.closeLine, of: .connection)
        } else if delivery.version == .http10 {
            fields.append(line: Self.keepAliveLine, of: .connection)
        }
    }

    /// A `Location` at the upstream's own origin becomes one at ours: its prefix off, the route's path back on.
    private mutating func rewriteLocation(for state: RouteState, delivery: Delivery) {
        let clientOrigin = delivery.clientOrigin
        guard let location = fields[.location],
            let path = ownPath(of: location, state: state, toldOrigin: delivery.toldOrigin)
        else { return }
        var rewritten = path
        let prefix = state.route.upstreamPrefix
        if !prefix.isEmpty {
            guard
                path == prefix || path.hasPrefix(prefix + "/") || path.hasPrefix(prefix + "?")
                    || path.hasPrefix(prefix + "#")
            else { return }
            rewritten = String(path.dropFirst(prefix.count))
        }
        if state.route.stripPrefix {
            let routePath =
                state.route.path.hasSuffix("/") ? String(state.route.path.dropLast()) : state.route.path
            rewritten = routePath + rewritten
        }
        if !rewritten.hasPrefix("/") { rewritten = "/" + rewritten }
        // A path that begins like this alone would name a host (RFC 3986 4.2).
        if clientOrigin == nil, rewritten.hasPrefix("//") { rewritten = "/." + rewritten }
        fields[.location] = (clientOrigin ?? "") + rewritten
    }

    /// The path and what follows, if `location` is at the upstream's own origin.
    private func ownPath(of location: String, state: RouteState, toldOrigin: String?) -> String? {
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            // Relative to the same origin: only a changed path needs a change.
            return state.keepsTarget ? nil : location
        }
        if let toldOrigin, let path = path(of: location, at: toldOrigin) { return path }
        return state.route.upstreamOrigins.lazy.compactMap { path(of: location, at: $0) }.first
    }

    /// The path and what follows, if `location` is at `origin`.
    private func path(of location: String, at origin: String) -> String? {
        // Without a scheme it is the upstream's own (RFC 3986 4.2).
        let start = location.hasPrefix("/") ? origin.drop { $0 != "/" } : origin[...]
        guard location.lowercased().hasPrefix(start) else { return nil }
        var rest = location.dropFirst(start.count)
        // The scheme's own port may be spelled out (RFC 3986 6.2.3).
        let port = origin.hasPrefix("https:") ? ":443" : ":80"
        if rest.hasPrefix(port) { rest = rest.dropFirst(port.count) }
        guard let first = rest.first else { return "/" }
        switch first {
        case "/": return String(rest)
        case "?", "#": return "/" + rest
        default: return nil
        }
    }
}
