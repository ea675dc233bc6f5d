// SPDX-License-Identifier: Apache-2.0

/// How a provider or an upstream is connected to.
package struct TransportConfiguration: Sendable {
    /// A file with the only CAs that count; nil for the system's.
    package let caFile: String?
    /// Our certificate; nil for none.
    package let clientCertificate: ClientCertificate?
    /// The proxy to go through.
    package let proxy: ProxyConfiguration
    /// Where to connect in place of what the URL says; names and certificates are checked as ever.
    package let connectTo: ConnectAddress?
    /// Whether any certificate will do, which is warned of wherever it can be seen.
    package let skipsVerification: Bool
}

/// A certificate of ours and its key, both in PEM files.
package struct ClientCertificate: Hashable, Sendable {
    /// The certificate and what leads to its CA.
    package let certificateFile: String
    /// The private key.
    package let keyFile: String
}

/// The keys of a section that connects somewhere.
protocol TransportKey: ConfigurationKey {
    static var caFile: Self { get }
    static var clientCertificateFile: Self { get }
    static var clientKeyFile: Self { get }
    static var proxy: Self { get }
    static var connectTo: Self { get }
}

extension IdentityKey: TransportKey {}
extension RouteKey: TransportKey {}

extension TransportConfiguration {
    init<Key: TransportKey>(reading section: Section<Key>, skipsVerification: Bool) {
        caFile = section.certificateFile(.caFile)
        let certificate = section.certificateFile(.clientCertificateFile)
        let key = section.keyFile(.clientKeyFile)
        if section.has(.clientCertificateFile) {
            section.require(.clientKeyFile, "is missing: a certificate needs its key")
        } else if section.has(.clientKeyFile) {
            section.require(.clientCertificateFile, "is missing: a key needs its certificate")
        }
        if let certificate, let key {
            clientCertificate = ClientCertificate(certificateFile: certificate, keyFile: key)
        } else {
            clientCertificate = nil
        }
        proxy = section.value(.proxy, .proxy, default: .none)
        connectTo = section.value(.connectTo, .connectAddress)?.value
        self.skipsVerification = skipsVerification
    }
}
