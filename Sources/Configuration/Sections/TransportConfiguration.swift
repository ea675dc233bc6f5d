// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdTLS

/// The way to a provider or an upstream.
package struct TransportConfiguration: Equatable, Sendable {
    /// A PEM file with the only CAs to trust; nil for the system's.
    package let caFile: String?
    package let clientCertificate: ClientCertificate?
    package let proxy: ProxyConfiguration
    /// The address to connect to instead of the URL's; names and certificates are checked as for the URL.
    package let connectTo: ConnectAddress?
    /// True if any certificate is accepted, which is warned of wherever it can be seen.
    package let skipsVerification: Bool
}

/// A certificate of ours and its key, both in PEM files.
package struct ClientCertificate: Hashable, Sendable {
    /// The certificate and its intermediate certificates.
    package let certificateFile: String
    package let keyFile: String
}

/// The keys of a section that may have a client certificate.
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
    /// - Returns: nil if there is none or an error was reported.
    init?<Key: CertificateKey>(reading section: Section<Key>) {
        let certificate = section.certificateFile(.clientCertificateFile)
        let key = section.secretFile(.clientKeyFile)
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
    /// Returns true if the key is the certificate's; reports it otherwise.
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
