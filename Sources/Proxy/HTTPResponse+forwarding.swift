// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import BearerdRouting

extension HTTPResponse {
    /// The origins with which a `Location` is compared and rewritten.
    struct Origins {
        /// The scheme and authority that the client used; nil on a Unix socket or without a `Location`.
        var ofClient: String?
        /// The upstream's origin under the client's `Host`, if the upstream was told that; nil without a
        /// `Location`.
        var told: String?
    }

    /// Rewrites the upstream's head for the client, except for the fields of the client's connection.
    mutating func rewrite(for plan: PreparedRoute, origins: Origins) {
        // A 426 says to what (RFC 9110 15.5.22).
        let demanded = status == 426 ? plan.terms.passableProtocols(in: fields) : nil
        fields.removeHopByHop()
        if let demanded { fields.append(.upgrade, demanded) }
        if fields.has(.setCookie) { fields.removeOwnSetCookies() }
        if status == 204 { fields.remove(.contentLength) }  // RFC 9110 8.6
        if let query = plan.terms.tokenQuery { removeToken(as: query, for: plan, origins: origins) }
        if fields.has(.location) { rewriteLocation(for: plan, origins: origins) }
        if let edits = plan.responseEdits { edits.apply(to: &fields) }
    }

    /// Removes the token from references to the upstream's own resources, which repeat a target in whole or in part.
    private mutating func removeToken(as query: QueryParameter, for plan: PreparedRoute, origins: Origins) {
        for name in Self.references {
            guard let value = fields[name],
                value.isRelativeReference || ownPath(of: value, plan: plan, toldOrigin: origins.told) != nil
            else { continue }
            var bytes = Array(value.utf8)
            query.remove(from: &bytes)
            fields[name] = String(decoding: bytes, as: UTF8.self)
        }
    }

    /// The fields that may repeat a target (RFC 9110 §8.7, §10.2.2).
    private static let references = [.location] + [HTTPFields.Name("Content-Location")].compactMap(\.self)

    /// Rewrites a `Location` at the upstream's origin: removes the upstream's path prefix and restores the
    /// route's path.
    private mutating func rewriteLocation(for plan: PreparedRoute, origins: Origins) {
        let clientOrigin = origins.ofClient
        guard let location = fields[.location],
            let path = ownPath(of: location, plan: plan, toldOrigin: origins.told)
        else { return }
        var rewritten = path
        let prefix = String(decoding: plan.upstreamPrefix, as: UTF8.self)
        if !prefix.isEmpty {
            guard
                path == prefix || path.hasPrefix(prefix + "/") || path.hasPrefix(prefix + "?")
                    || path.hasPrefix(prefix + "#")
            else { return }
            rewritten = String(path.dropFirst(prefix.count))
        }
        if plan.terms.stripsPrefix {
            let path = String(decoding: plan.canonicalPath, as: UTF8.self)
            rewritten = (path.hasSuffix("/") ? String(path.dropLast()) : path) + rewritten
        }
        if !rewritten.hasPrefix("/") { rewritten = "/" + rewritten }
        // A path that begins like this alone would name a host (RFC 3986 4.2), and so it would to browsers, to which `\` is
        // a slash and a tab is nothing.
        if clientOrigin == nil, let second = rewritten.utf8.dropFirst().first,
            [Byte.slash, Byte.backslash, Byte.tab].contains(second)
        {
            rewritten = "/." + rewritten
        }
        fields[.location] = (clientOrigin ?? "") + rewritten
    }

    /// The path, query and fragment of `location` if it is at the upstream's origin.
    private func ownPath(of location: String, plan: PreparedRoute, toldOrigin: String?) -> String? {
        if location.hasPrefix("/"), !location.hasPrefix("//") {
            // Relative to the same origin: only a changed path needs a change.
            return plan.keepsTarget ? nil : location
        }
        if let toldOrigin, let path = path(of: location, at: toldOrigin) { return path }
        return plan.upstreamOrigins.lazy.compactMap { path(of: location, at: $0) }.first
    }

    /// The path, query and fragment of `location` if it is at `origin`.
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

extension String {
    /// True for a reference without a scheme and an authority (RFC 3986 §4.2).
    fileprivate var isRelativeReference: Bool {
        guard !hasPrefix("//") else { return false }
        let scheme = prefix { $0 != ":" && $0 != "/" && $0 != "?" && $0 != "#" }
        return scheme.endIndex == endIndex || self[scheme.endIndex] != ":" || scheme.isEmpty
    }
}
