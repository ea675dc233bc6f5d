// SPDX-License-Identifier: Apache-2.0

/// The end of the validity of a certificate that bearerd shows to others, for `/metrics`.
package struct CertificateEnd: Sendable, Hashable {
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

    /// The sentence on its end, once that has come; nil before.
    package func ending(at now: Int64) -> String? {
        guard unixSeconds <= now else { return nil }
        return "\(subject) ended at \(moment), and is refused by whoever looks at it"
    }

    /// The sentence on an end that is to come.
    package var warning: String { "\(subject) ends at \(moment), and is refused from then on" }

    private var moment: String { Timestamp.text(unixSeconds: unixSeconds) }

    private var subject: String {
        switch use {
        case .listener: "the certificate of the listeners"
        case .provider: "our certificate for the provider of \(name)"
        case .upstream: "our certificate for the upstream of \(name)"
        }
    }

    package init(_ use: Use, name: String = "", unixSeconds: Int64) {
        self.use = use
        self.name = name
        self.unixSeconds = unixSeconds
    }
}
