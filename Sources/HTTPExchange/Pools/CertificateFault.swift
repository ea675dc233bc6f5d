// SPDX-License-Identifier: Apache-2.0

/// Why a server's certificate is not believed.
package enum CertificateFault: Equatable, Sendable {
    /// None of the authorities that we trust, those of `ca_file` or else the system's, has signed it.
    case unknownAuthority
    /// It vouches for itself, and is not among those that we trust.
    case selfSigned
    /// It is for another host or address.
    case otherName
    /// It names neither host nor address in its subjectAltName; a name in CN alone does not count (RFC 9110 4.3.4).
    case noAlternativeName
    case expired
    case notYetValid
    /// Anything else, in the words of what judges certificates.
    case other(reason: String)

    /// What a person reads of it, behind "the certificate does not verify:".
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

    /// Whether another `ca_file` would mend it.
    package var isOfAuthority: Bool { self == .unknownAuthority || self == .selfSigned }
}
