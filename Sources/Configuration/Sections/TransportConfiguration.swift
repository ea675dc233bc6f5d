// SPDX-License-Identifier: Apache-2.0

internal import Cryptography
internal import TLS

/// How a provider or an upstream is connected to.
package struct TransportConfiguration: Equatable, Sendable {
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

/// The keys of a section that may show a certificate of ours.
protocol CertificateKey: ConfigurationKey {
    static var clientCertificateFile: Self { get }
    static var clientKeyFile: Self { get }
}

/// The keys of a section that connects somewhere.
protocol TransportKey: CertificateKey {
    static var caFile: Self { get }
    static var proxy: Self { get }
    static var connectTo: Self { get }
}

extension IdentityKey: TransportKey {}
extension RouteConfiguration.Key: TransportKey {}
extension StoreConfiguration.Key: CertificateKey {}

extension ClientCertificate {
    /// - Returns: nil if there is none, or it was reported.
    init?<Key: CertificateKey>(reading section: Section<Key>) {
        let certificate = section.certificateFile(.clientCertificateFile)
        let key = section.keyFile(.clientKeyFile)
        if section.has(.clientCertificateFile) {
            section.require(.clientKeyFile, "is missing: a certificate needs its key")
        } else if section.has(.clientKeyFile) {
            section.require(.clientCertificateFile, "is missing: a key needs its certificate")
        }
        guard let certificate, let key, section.belongTogether(certificate, key) else { return nil }
        self.init(certificateFile: certificate, keyFile: key)
    }
}

extension TransportConfiguration {
    init<Key: TransportKey>(reading section: Section<Key>, skipsVerification: Bool) {
        caFile = section.certificateFile(.caFile)
        clientCertificate = ClientCertificate(reading: section)
        proxy = section.value(.proxy, .proxy, default: .none)
        if proxy.hasPassword, !section.isFromEnvironment(.proxy) {
            section.reading.holdsSecret(at: section.place(of: .proxy))
        }
        connectTo = section.value(.connectTo, .connectAddress)?.value
        self.skipsVerification = skipsVerification
    }
}

extension Section where Key: CertificateKey {
    /// Whether the key is the certificate's; that it is not is told.
    fileprivate func belongTogether(_ certificate: String, _ key: String) -> Bool {
        guard let chain = try? CertificateFile.contents(of: certificate),
            let secret = try? SecretFile.contents(of: key).bytes
        else { return true }  // changed a moment ago
        do throws(ContextError) {
            _ = try ServerContext(chain: chain, key: Secret(bytes: secret))
            return true
        } catch {
            switch error {
            case .noKey:
                self.error(
                    .clientKeyFile, "\(key) holds no private key in PEM that can be used without a passphrase"
                )
            case .mismatch:
                self.error(
                    .clientKeyFile,
                    "\(key) holds another key than the one that client_certificate_file certifies")
            case .expired, .noCertificate, .noAuthority, .unusableCertificate, .library: return true
            }
            return false
        }
    }
}
