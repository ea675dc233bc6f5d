// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

extension ListenAddress {
    /// Returns true if connecting to an upstream would end at this listener.
    ///
    /// Asks no name server: `localhost` counts as either loopback address, and a wildcard listener as each of them.
    package func isReached(by upstream: HTTPURL, at connectTo: ConnectAddress?) -> Bool {
        switch self {
        case .unix(let path): return upstream.socketPath == path
        case .systemd, .descriptor: return false
        case .tcp(let host, let port):
            guard upstream.scheme != .unix, port != 0 else { return false }
            let target = connectTo?.host ?? upstream.host
            guard port == connectTo?.port ?? upstream.port else { return false }
            let own = host.lowercased()
            if own == target { return true }
            let isTargetLoopback = ListenAddress.tcp(host: target, port: port).isLoopback
            if own == "0.0.0.0" || own == "::" {
                return isTargetLoopback || target == "0.0.0.0" || target == "::"
            }
            guard isLoopback, isTargetLoopback else { return target == "0.0.0.0" && isLoopback }
            return own.isName || target.isName
        }
    }
}

extension String {
    /// True if a host is a name and not an address.
    fileprivate var isName: Bool { utf8.contains(where: \.isLetter) && !utf8.contains(UInt8(ascii: ":")) }
}
