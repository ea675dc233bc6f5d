// SPDX-License-Identifier: Apache-2.0

package import HTTPMessages

extension ListenAddress {
    /// Whether connecting to an upstream would end at this listener.
    ///
    /// Judged without asking for names: `localhost` is taken for either loopback address, an address that stands for
    /// all of them for each that is loopback.
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
    /// Whether a host is a name, not an address.
    fileprivate var isName: Bool { utf8.contains(where: \.isLetter) && !utf8.contains(UInt8(ascii: ":")) }
}
