// SPDX-License-Identifier: Apache-2.0

/// A client certificate of ours did not do.
package enum ClientCertificateFault: Equatable, Sendable {
    /// Its file, or that of its key, holds nothing that can be used.
    case unusable
    /// The server has ended TLS with an alert about certificates.
    case refused(CertificateAlert)

    /// Text for people.
    package var reason: String {
        switch self {
        case .unusable: "the client certificate or its key cannot be used"
        case .refused(let alert): alert.reason
        }
    }
}

/// The alerts with which a server refuses a client's certificate (RFC 8446 §6.2).
package enum CertificateAlert: UInt8, Sendable {
    case bad = 42
    case unsupported = 43
    case revoked = 44
    case expired = 45
    case unknown = 46
    case unknownAuthority = 48
    case required = 116

    fileprivate var reason: String {
        let refusal = "the server refuses the client certificate"
        return switch self {
        case .bad: refusal + ": it is bad"
        case .unsupported: refusal + ": it is of a kind that it does not take"
        case .revoked: refusal + ": it is revoked"
        case .expired: refusal + ": it has expired, or is not valid yet"
        case .unknown: refusal
        case .unknownAuthority: refusal + ": no authority that it trusts has signed it"
        case .required: "the server wants a client certificate"
        }
    }
}
