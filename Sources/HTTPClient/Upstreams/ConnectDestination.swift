// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// `HOST:PORT`, as in `connect_to`.
package struct ConnectDestination: Hashable, Sendable, CustomStringConvertible {
    private let url: HTTPURL
    /// As written, with brackets around an IPv6 address.
    package let description: String

    /// - Returns: nil for anything but a host, a colon and a port.
    package init?(_ text: String) {
        guard let url = HTTPURL("http://" + text), url.path.isEmpty, url.query == nil,
            text.hasSuffix(":\(url.port)")
        else { return nil }
        self.url = url
        description = text
    }

    /// - Parameter host: a name or an address, an IPv6 address with or without its brackets.
    package init?(host: String, port: UInt16) {
        self.init(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }

    var port: UInt16 { url.port }

    /// Whether its host is a name for which a name server may be asked.
    var hasName: Bool { url.hasName }

    /// Whether it is on this machine.
    package var isLoopback: Bool { url.isLoopback }
}
