// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages

/// How a server is connected to, beyond what its URL says.
package struct Transport: Equatable, Sendable {
    /// Whose certificates are accepted; nil accepts none, which is all that plain HTTP needs.
    package var trust: TrustStore?
    /// Whose certificates are accepted of an HTTPS proxy; nil accepts none.
    package var proxyTrust: TrustStore?
    /// Our own certificate, as somebody has read it last.
    package var ownCertificate: OwnCertificate?
    package var proxy: Proxy
    /// Connect there in place of the URL's host; name and certificate checks stay.
    package var connectTo: ConnectDestination?
    /// Whether any certificate is accepted.
    ///
    /// For `insecure_skip_verify` alone.
    package var skipsVerification: Bool

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
