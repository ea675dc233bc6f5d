// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// Where an upstream is, and how it is reached.
package struct UpstreamAddress: Sendable {
    /// Scheme, host and port, or a Unix socket; the path plays no part.
    package let url: HTTPURL
    package let transport: Transport

    package init(url: HTTPURL, transport: Transport = Transport()) {
        self.url = url
        self.transport = transport
    }

    /// Whether bytes go through libcurl's TLS, the upstream's or an HTTPS proxy's, and not straight to the socket.
    var mayBeEncrypted: Bool {
        url.scheme == .https || transport.proxy(to: url).mayBeEncrypted
    }
}
