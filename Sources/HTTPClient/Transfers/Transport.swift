// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// The way to a server, beyond its URL.
package struct Transport: Equatable, Sendable {
    /// The authorities for the server's certificate; nil accepts no certificate, which suffices for plain
    /// HTTP.
    package var trust: TrustStore?
    /// The authorities for an HTTPS proxy's certificate; nil accepts none.
    package var proxyTrust: TrustStore?
    /// Our own certificate, as last read from its files.
    package var ownCertificate: OwnCertificate?
    package var proxy: Proxy
    /// The address to connect to instead of the URL's host; the URL's name and certificate checks stay.
    package var connectTo: ConnectDestination?
    /// True if any certificate is accepted, as `insecure_skip_verify` asks.
    package var skipsVerification: Bool
    /// True for transfers by HTTP/2: as ALPN has it over TLS, else with prior knowledge.
    package var transfersByHTTP2 = false

    package init(
        trust: TrustStore? = nil, proxyTrust: TrustStore? = nil, ownCertificate: OwnCertificate? = nil,
        proxy: Proxy = .none, connectTo: ConnectDestination? = nil, skipsVerification: Bool = false
    ) {
        self.trust = trust
        self.proxyTrust = proxyTrust
        self.ownCertificate = ownCertificate
        self.proxy = proxy
        self.connectTo = connectTo
        self.skipsVerification = skipsVerification
    }
}
