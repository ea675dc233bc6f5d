// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// The address of an upstream and the way to it.
package struct UpstreamAddress: Equatable, Sendable {
    /// Scheme, host and port, or a Unix socket; the path is ignored.
    package let url: HTTPURL
    package let transport: Transport
    /// The protocol that it is spoken to in.
    package let httpProtocol: UpstreamProtocol

    /// Returns true if connections to both go to one place, however they are made.
    package func isOneServer(with other: UpstreamAddress) -> Bool {
        url == other.url && transport.connectTo == other.transport.connectTo
    }

    package init(
        url: HTTPURL, transport: Transport = Transport(), httpProtocol: UpstreamProtocol = .http1
    ) {
        self.url = url
        self.transport = transport
        self.httpProtocol = httpProtocol
    }

    /// The upstream for people: `HOST:PORT`, or the path of its Unix socket.
    package var place: String {
        url.socketPath ?? "\(url.host.contains(":") ? "[\(url.host)]" : url.host):\(url.port)"
    }

    /// The address that is connected to, apart from a proxy: `connect_to`, else ``place``.
    package var destination: String { transport.connectTo?.description ?? place }

    /// True if a name server may be needed to connect.
    var isNamed: Bool {
        if transport.proxy(to: url) != .none { return true }
        return transport.connectTo?.hasName ?? url.hasName
    }

    /// True if libcurl does the TLS, so that bytes cannot go straight to the socket.
    ///
    /// That is so if a proxy may lead to an `https` upstream, because libcurl chooses proxies by scheme, or
    /// if the connection to the proxy may itself use TLS. Through the tunnel of a proxy that is named and plain the TLS
    /// for HTTP/2 is ours.
    var isEncryptedByLibcurl: Bool {
        let proxy = transport.proxy(to: url)
        guard url.scheme == .https, httpProtocol == .http1 || !proxy.isNamed else {
            return proxy.mayBeEncrypted
        }
        return proxy != .none
    }
}
