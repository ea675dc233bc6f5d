// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// Advice derived from a failed token request.
extension ExaminedIdentity {
    /// Reasons for which providers refuse a request, with the configuration keys at fault.
    private static let requested: [(reason: TokenFailure.Reason, key: String)] = [
        (.refused(.invalidScope), "scope"), (.refused(.invalidTarget), "resource"),
        (.refused(.unsupportedGrantType), "grant_type"), (.noMetadata, "issuer"), (.issuerMismatch, "issuer"),
        (.badIssuer, "issuer"),
    ]

    /// Returns true if the client's authentication was refused, or its credential could not be used.
    func isDisbelieved(by failure: CommandFailure) -> Bool {
        var reasons: [TokenFailure.Reason] = [.refused(.invalidClient), .refused(.unauthorizedClient)]
        if let proof {
            reasons += [.noCredential(proof), .unreadableCredential(proof), .badCredential(proof)]
        }
        return reasons.contains { TroubleCode($0) == failure.code }
    }

    /// The command or configuration key that helps.
    func mend(of failure: CommandFailure) -> String {
        if client.source != nil { return key(configuration.credentialKeys.values.sorted().first ?? "source") }
        if isDisbelieved(by: failure) { return proofKey }
        if let requested = Self.requested.first(where: { TroubleCode($0.reason) == failure.code }) {
            return key(requested.key)
        }
        return switch failure.status {
        case .permission where client.grantType.needsPerson: "bearerd login \(name)"
        case .unavailable: "the provider, or the way to it: bearerd doctor \(name) --check discovery"
        default: "bearerd refresh \(name), which tells why"
        }
    }

    /// The credential with which the client authenticates; nil if it is no secret of the configuration.
    private var proof: Credential? {
        let known = configuration.credentialKeys
        return switch client.authentication {
        case .basic, .post, .clientSecretJWT: .clientSecret
        case .privateKeyJWT: known[.assertion] != nil && known[.privateKey] == nil ? .assertion : .privateKey
        case .none, .tlsClientAuth, .selfSignedTLSClientAuth: nil
        }
    }

    /// The configuration key of that credential.
    private var proofKey: String {
        switch client.authentication {
        case .none: key("client_id")
        case .tlsClientAuth, .selfSignedTLSClientAuth: key("client_certificate_file")
        case .basic, .post, .clientSecretJWT, .privateKeyJWT:
            key(proof.flatMap { configuration.credentialKeys[$0] } ?? "client_secret")
        }
    }
}
