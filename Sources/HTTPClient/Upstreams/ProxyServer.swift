// SPDX-License-Identifier: Apache-2.0

/// A proxy as its URL names it, for messages about its failures.
package struct ProxyServer: Equatable, Sendable {
    /// `HOST:PORT`, without the user information of the URL.
    let address: ConnectDestination
    /// True for SOCKS, false for HTTP.
    let isSOCKS: Bool

    /// Parses a proxy as libcurl would: a URL, or `HOST:PORT` alone for an HTTP proxy.
    ///
    /// - Returns: nil for anything else, such as a password with a slash, part of which would look like a
    ///   host.
    init?(_ text: String) {
        let parts = text.split(separator: "://", maxSplits: 1, omittingEmptySubsequences: false)
        guard let rest = parts.last else { return nil }
        let scheme = parts.count == 2 ? parts[0].lowercased() : "http"
        let authority = rest.hasSuffix("/") ? rest.dropLast() : rest
        guard !authority.contains("/") else { return nil }
        let host = authority.split(separator: "@").last ?? ""
        // libcurl's own ports.
        let port = scheme == "https" ? 443 : 1080
        guard let address = ConnectDestination("\(host)") ?? ConnectDestination("\(host):\(port)") else {
            return nil
        }
        self.address = address
        isSOCKS = scheme.hasPrefix("socks")
    }
}
