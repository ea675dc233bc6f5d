// SPDX-License-Identifier: Apache-2.0

/// The end of the validity of a certificate that bearerd shows to others, for `/metrics`.
package struct CertificateEnd: Sendable {
    /// The side that shows the certificate, spelled as its label.
    package enum Use: String, Sendable {
        case listener
        case provider
        case upstream
    }

    package let use: Use
    /// The identity or the route's path; empty for the listeners.
    package let name: String
    /// Seconds since 1970.
    package let unixSeconds: Int64

    package init(_ use: Use, name: String = "", unixSeconds: Int64) {
        self.use = use
        self.name = name
        self.unixSeconds = unixSeconds
    }
}
