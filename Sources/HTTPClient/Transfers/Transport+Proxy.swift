// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages
internal import Glibc

extension Transport {
    /// The HTTP or SOCKS proxy between us and a server.
    ///
    /// Loopback and Unix sockets never use one.
    package enum Proxy: Hashable, Sendable {
        /// No proxy, whatever the environment says.
        case none
        /// An `http://`, `https://` or `socks5h://` URL, with user information if the proxy needs it.
        case url(String)
        /// The proxy of `http_proxy`, `https_proxy`, `all_proxy` and `no_proxy`, which libcurl reads for each
        /// connection.
        case environment

        /// True if it is the same for URLs of any scheme.
        var isNamed: Bool { if case .url = self { true } else { false } }

        /// True if the connection to the proxy may itself use TLS, so that bytes must go through libcurl.
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

        /// The proxy for URLs of a scheme; `no_proxy` may still exempt a host from the environment's.
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
