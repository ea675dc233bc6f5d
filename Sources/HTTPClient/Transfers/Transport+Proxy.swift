// SPDX-License-Identifier: Apache-2.0

internal import Glibc

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

        private static func isEncrypted(_ url: String) -> Bool {
            url.lowercased().hasPrefix("https:")
        }
    }
}
