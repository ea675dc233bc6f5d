// SPDX-License-Identifier: Apache-2.0

/// The reason why a server's certificate was refused.
package enum CertificateFault: Equatable, Sendable {
    /// No trusted authority has signed it; those of `ca_file` are trusted, or else the system's.
    case unknownAuthority
    /// It is self-signed and not itself trusted.
    case selfSigned
    /// It is for another host or address.
    case otherName
    /// It has no host or address in its subjectAltName; a name in CN alone does not count (RFC 9110 §4.3.4).
    case noAlternativeName
    case expired
    case notYetValid
    /// Another reason, in OpenSSL's words.
    case other(reason: String)

    /// Text for people; it follows "the certificate does not verify:".
    package var reason: String {
        switch self {
        case .unknownAuthority: "unknown CA: no trusted authority has signed it"
        case .selfSigned: "unknown CA: it is self-signed"
        case .otherName: "other name: it is not for this host"
        case .noAlternativeName: "it has no subjectAltName, and a name in CN alone does not count"
        case .expired: "it has expired"
        case .notYetValid: "it is not yet valid"
        case .other(let reason): reason
        }
    }

    /// True if another `ca_file` could fix it.
    package var isOfAuthority: Bool { self == .unknownAuthority || self == .selfSigned }
}
