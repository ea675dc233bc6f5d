// SPDX-License-Identifier: Apache-2.0

/// A proxy as its URL names it, for people who are told that it fails.
package struct ProxyServer: Equatable, Sendable {
    /// `HOST:PORT`, without the user information of the URL.
    let address: ConnectDestination
    /// Whether it speaks SOCKS, and not HTTP.
    let isSOCKS: Bool

    /// Reads what libcurl takes for a proxy: a URL, or `HOST:PORT` alone for an HTTP proxy.
    ///
    /// - Returns: nil for anything else, such as a password with a slash in it, a part of which would look like a host.
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
