// SPDX-License-Identifier: Apache-2.0

/// The hosts a listener answers to: what keeps a page that rebinds its name from reaching it.
package struct HostList: Sendable, Equatable {
    private let entries: Set<String>

    /// - Parameter entries: `host`, which stands for any port, `host:port`, or `host:`, which stands for none; IPv6
    ///   addresses in brackets.
    package init(_ entries: some Sequence<String>) {
        self.entries = Set(entries.map(Self.normalized))
    }

    /// Whether a request with this `Host` is meant for the listener; a request without one (HTTP/1.0) is.
    package func contains(_ host: String?) -> Bool {
        guard let host = host.map(Self.normalized) else { return true }
        let name = Self.withoutPort(host)
        return entries.contains(host) || entries.contains(name)
            || (name == host && entries.contains(host + ":"))
    }

    /// In lower case and without the dot of a name that ends with the root (RFC 1034 3.1): it means the same host.
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
