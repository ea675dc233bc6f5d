// SPDX-License-Identifier: Apache-2.0

internal import HTTPMessages

/// How a server is connected to, beyond what its URL says.
package struct Transport: Equatable, Sendable {
    /// Whose certificates are accepted; nil accepts none, which is all that plain HTTP needs.
    package var trust: TrustStore?
    /// A PEM file with our own certificate and those that lead to its authority; read anew for each connection.
    package var clientCertificateFile: String?
    /// The PEM file with its key, if that is another one.
    package var clientKeyFile: String?
    package var proxy: Proxy
    /// Connect there in place of the URL's host; name and certificate checks stay.
    package var connectTo: ConnectDestination?
    /// Whether any certificate is accepted.
    ///
    /// For `insecure_skip_verify` alone.
    package var skipsVerification: Bool

    package init(
        trust: TrustStore? = nil, clientCertificateFile: String? = nil, clientKeyFile: String? = nil,
        proxy: Proxy = .none, connectTo: ConnectDestination? = nil, skipsVerification: Bool = false
    ) {
        self.trust = trust
        self.clientCertificateFile = clientCertificateFile
        self.clientKeyFile = clientKeyFile
        self.proxy = proxy
        self.connectTo = connectTo
        self.skipsVerification = skipsVerification
    }
}
