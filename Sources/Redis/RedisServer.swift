// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The address of a Redis server or sentinel.
package struct RedisServer: Hashable, Sendable {
    /// The address as a URL; `https` for TLS.
    package let url: HTTPURL

    /// A server behind TCP; nil if host or port are invalid.
    ///
    ///   - Parameter host: a name or an address, an IPv6 address with or without brackets.
    package init?(host: String, port: UInt16, isEncrypted: Bool) {
        let isBare = host.contains(":") && !host.hasPrefix("[")
        guard
            let url = HTTPURL("\(isEncrypted ? "https" : "http")://\(isBare ? "[\(host)]" : host):\(port)"),
            url.path.isEmpty, url.query == nil
        else { return nil }
        self.url = url
    }

    /// A server behind a Unix socket; nil for a path that is not absolute.
    package init?(socket path: String) {
        guard let url = HTTPURL("http+unix:\(path)") else { return nil }
        self.url = url
    }
}

extension RedisServer: CustomStringConvertible {
    /// The address as in a configuration: `rediss://redis.example.com:6379`.
    package var description: String {
        if let path = url.socketPath { return "redis+unix:\(path)" }
        let host = url.host.contains(":") ? "[\(url.host)]" : url.host
        return "\(url.scheme == .https ? "rediss" : "redis")://\(host):\(url.port)"
    }
}
