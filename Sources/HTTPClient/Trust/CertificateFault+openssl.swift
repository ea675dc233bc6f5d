// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPExchange
internal import CBearerdOpenSSL

extension CertificateFault {
    /// - Parameter code: the result of `SSL_get_verify_result`; a success code means that libcurl found the
    ///   name to differ.
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
            self = .other(reason: String(cString: X509_verify_cert_error_string(Int(code))))
        }
    }
}
