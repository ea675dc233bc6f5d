// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

/// The names of a listener if `access.hosts` is not set.
enum HostNames {
    private static let loopback = ["localhost", "127.0.0.1", "[::1]"]

    /// Loopback names and the listener's own host, with its port; listeners without a known port accept any.
    ///
    /// - Parameter scheme: the scheme of the listener.
    static func of(_ listener: BoundListener, scheme: HTTPURL.Scheme = .http) -> [String] {
        of(listener.address, isPassed: listener.isPassed, scheme: scheme)
    }

    /// The names of a listener at an address, whose port is known.
    ///
    /// - Parameter isPassed: true if another process bound the socket, so that clients may use another port.
    static func of(
        _ address: ListenAddress, isPassed: Bool = false, scheme: HTTPURL.Scheme = .http
    ) -> [String] {
        let (host, port): (String, UInt16)
        switch address {
        case .tcp(let address, let number): (host, port) = (address, number)
        case .unix(let path): return loopback + [nameByGRPC(of: path)]
        default: return loopback
        }
        let own = host.contains(":") ? "[\(host)]" : host
        let names = loopback + [own]
        // Clients leave out a port that is their scheme's default (RFC 9110 7.2).
        let isUsual = port == (scheme == .https ? 443 : 80)
        return names.map { "\($0):\(port)" } + (isUsual ? names.map { $0 + ":" } : [])
            + (isPassed ? loopback : [])
    }

    /// The `:authority` that gRPC's C library, and all that stand on it, send to a Unix socket.
    private static func nameByGRPC(of path: String) -> String {
        PercentEncoding.encoded(String(path.drop { $0 == "/" }))
    }
}
