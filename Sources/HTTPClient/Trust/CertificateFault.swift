// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

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
    /// Another `X509_V_ERR_*`.
    case other(code: Int32)

    /// - Parameter code: `SSL_get_verify_result`; what is no failure by itself is a name that libcurl did not find.
    init(verifyResult code: Int32) {
        switch code {
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_CERT_UNTRUSTED,
            X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
            self = .unknownAuthority
        case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            self = .selfSigned
        case X509_V_OK, X509_V_ERR_UNSPECIFIED, X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            self = .otherName
        case X509_V_ERR_APPLICATION_VERIFICATION:  // bearerd_verify_named's
            self = .noAlternativeName
        case X509_V_ERR_CERT_HAS_EXPIRED:
            self = .expired
        case X509_V_ERR_CERT_NOT_YET_VALID:
            self = .notYetValid
        default:
            self = .other(code: code)
        }
    }

    /// What a person reads of it, behind "the certificate does not verify:".
    package var reason: String {
        switch self {
        case .unknownAuthority: "unknown CA: no trusted authority has signed it"
        case .selfSigned: "unknown CA: it is self-signed"
        case .otherName: "other name: it is not for this host"
        case .noAlternativeName: "it has no subjectAltName, and a name in CN alone does not count"
        case .expired: "it has expired"
        case .notYetValid: "it is not yet valid"
        case .other(let code): String(cString: X509_verify_cert_error_string(Int(code)))
        }
    }

    /// Whether another `ca_file` would mend it.
    package var isOfAuthority: Bool { self == .unknownAuthority || self == .selfSigned }
}
