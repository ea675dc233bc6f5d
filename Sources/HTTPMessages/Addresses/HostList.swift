// SPDX-License-Identifier: Apache-2.0

/// The hosts that a listener answers to, so that web pages cannot reach it by DNS rebinding.
package struct HostList: Sendable, Equatable {
    private let entries: Set<String>

    /// - Parameter entries: `host` for any port, `host:port`, or `host:` for no port; IPv6 addresses in brackets.
    package init(_ entries: some Sequence<String>) { self.entries = Set(entries.map(Self.normalized)) }

    /// Returns true if a `Host` names the listener, or is missing (HTTP/1.0).
    package func contains(_ host: String?) -> Bool {
        guard let host = host.map(Self.normalized) else { return true }
        let name = Self.withoutPort(host)
        return entries.contains(host) || entries.contains(name)
            || (name == host && entries.contains(host + ":"))
    }

    /// The host in lower case and without the final dot of a fully qualified name (RFC 1034 §3.1).
    package static func normalized(_ host: String) -> String {
        var host = host.lowercased()
        let end = host.lastIndex(of: ":") ?? host.endIndex
        if host[..<end].last == "." { host.remove(at: host.index(before: end)) }
        return host
    }

    private static func withoutPort(_ host: String) -> String {
        guard let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") else { return host }
        return String(host[..<colon])
    }
}
