// SPDX-License-Identifier: Apache-2.0

/// A host that a request may name: `host` on any port, or `host:port`.
package struct HostPattern: Hashable, Sendable {
    /// In lower case, an IPv6 address without brackets.
    package let host: String
    /// Nil for any port.
    package let port: UInt16?

    /// A pattern for this host on any port.
    package var onAnyPort: HostPattern { HostPattern(host: host, port: nil) }

    private init(host: String, port: UInt16?) {
        self.host = host
        self.port = port
    }

    /// Reads `host` or `host:port`, an IPv6 address in brackets.
    package init?(_ text: String) {
        // The authority of a URL has the same grammar (RFC 9110 §7.2).
        guard let url = HTTPURL("http://\(text)"), url.path.isEmpty, url.query == nil else { return nil }
        host = url.host
        let behindHost = text.split(separator: "]", omittingEmptySubsequences: false).last ?? ""
        port = behindHost.contains(":") ? url.port : nil
    }
}

extension HostPattern: CustomStringConvertible {
    package var description: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(name):\($0)" } ?? name
    }
}
