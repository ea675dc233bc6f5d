// SPDX-License-Identifier: Apache-2.0

package import BearerdHTTPMessages

/// Where an upstream is, and how it is reached.
package struct UpstreamAddress: Equatable, Sendable {
    /// Scheme, host and port, or a Unix socket; the path plays no part.
    package let url: HTTPURL
    package let transport: Transport

    package init(url: HTTPURL, transport: Transport = Transport()) {
        self.url = url
        self.transport = transport
    }

    /// `HOST:PORT`, or the Unix socket's path: how people know it.
    package var place: String {
        url.socketPath ?? "\(url.host.contains(":") ? "[\(url.host)]" : url.host):\(url.port)"
    }

    /// Where it is really connected to, unless a proxy is on the way: `connect_to`, else ``place``.
    package var destination: String { transport.connectTo?.description ?? place }

    /// Whether a name server may have to be asked for the way there.
    var isNamed: Bool {
        if transport.proxy(to: url) != .none { return true }
        return transport.connectTo?.hasName ?? url.hasName
    }

    /// Whether bytes go through libcurl's TLS, and not straight to the socket.
    ///
    /// They do where a proxy may lead to an `https` upstream, because libcurl chooses it by the scheme, and where the way
    /// to the proxy itself may be TLS.
    var isEncryptedByLibcurl: Bool {
        let proxy = transport.proxy(to: url)
        return url.scheme == .https ? proxy != .none : proxy.mayBeEncrypted
    }
}
