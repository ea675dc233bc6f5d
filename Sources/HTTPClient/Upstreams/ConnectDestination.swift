// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The `HOST:PORT` of `connect_to`.
package struct ConnectDestination: Hashable, Sendable, CustomStringConvertible {
    private let url: HTTPURL
    /// The text as written, with brackets around an IPv6 address.
    package let description: String

    /// - Returns: nil for anything but a host, a colon and a port.
    package init?(_ text: String) {
        guard let url = HTTPURL("http://" + text), url.path.isEmpty, url.query == nil,
            text.hasSuffix(":\(url.port)")
        else { return nil }
        self.url = url
        description = text
    }

    /// - Parameter host: a name or an address, an IPv6 address with or without brackets.
    package init?(host: String, port: UInt16) {
        self.init(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:\(port)" : "\(host):\(port)")
    }

    var port: UInt16 { url.port }

    /// True if the host is a name that a name server may have to resolve.
    var hasName: Bool { url.hasName }

    /// True if the destination is on this machine.
    package var isLoopback: Bool { url.isLoopback }
}
