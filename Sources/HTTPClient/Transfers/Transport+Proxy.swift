// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import BearerdHTTPMessages

extension Transport {
    /// Which HTTP or SOCKS proxy leads to a server.
    ///
    /// Loopback and Unix sockets never use one.
    package enum Proxy: Hashable, Sendable {
        /// None, whatever the environment says.
        case none
        /// `http://`, `https://` or `socks5h://`, with user information where the proxy wants it.
        case url(String)
        /// What `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy` say; read by libcurl for each connection.
        case environment

        /// Whether the connection to the proxy may itself be TLS, so that bytes must go through libcurl.
        package var mayBeEncrypted: Bool {
            switch self {
            case .none: false
            case .url(let url): Self.isEncrypted(url)
            case .environment:
                Self.environmentNames.contains { name in
                    getenv(name).map { Self.isEncrypted(String(cString: $0)) } ?? false
                }
            }
        }

        private static let environmentNames = [
            "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY",
        ]

        /// The one that leads to URLs of a scheme, unless `no_proxy` exempts their host from the environment's.
        package func server(for scheme: HTTPURL.Scheme) -> ProxyServer? {
            switch self {
            case .none: return nil
            case .url(let url): return ProxyServer(url)
            case .environment:
                let own = scheme == .https ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
                let values = (own + ["all_proxy", "ALL_PROXY"]).lazy.compactMap { name in
                    getenv(name).map { String(cString: $0) }
                }
                return values.first { !$0.isEmpty }.flatMap(ProxyServer.init)
            }
        }

        private static func isEncrypted(_ url: String) -> Bool {
            url.lowercased().hasPrefix("https:")
        }
    }
}
