// SPDX-License-Identifier: Apache-2.0

/// The clients that may use a listener, by the names in their certificates (subjectAltName, RFC 5280 §4.2.1.6).
///
/// One name that fits one pattern suffices. The subject's common name never counts.
package struct CertificateNameRules: Equatable, Sendable {
    package let hosts: [CertificateNamePattern]
    package let uris: [CertificateNamePattern]

    package init(hosts: [CertificateNamePattern], uris: [CertificateNamePattern]) {
        self.hosts = hosts
        self.uris = uris
    }

    /// Returns true if a certificate with these names is one of an admitted client.
    package func admit(hosts names: [String], uris identifiers: [String]) -> Bool {
        names.contains { name in hosts.contains { $0.fits(name) } }
            || identifiers.contains { identifier in uris.contains { $0.fits(identifier) } }
    }
}

extension CertificateNameRules: CustomStringConvertible {
    /// The patterns as written, for people.
    package var description: String { (hosts + uris).map(\.text).joined(separator: ", ") }
}
