// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The address to connect to instead of the one that a URL names (`connect_to`).
package struct ConnectAddress: Hashable, Sendable {
    /// A name or address, an IPv6 one without brackets.
    package let host: String
    /// The port, never 0.
    package let port: UInt16

    /// Reads `HOST:PORT`.
    package init?(_ text: String) {
        guard let pattern = HostPattern(text), let port = pattern.port, port > 0 else { return nil }
        host = pattern.host
        self.port = port
    }

    package var isLoopback: Bool { ListenAddress.tcp(host: host, port: port).isLoopback }
}

extension ConnectAddress: CustomStringConvertible {
    package var description: String { ListenAddress.tcp(host: host, port: port).description }
}
