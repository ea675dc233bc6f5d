// SPDX-License-Identifier: Apache-2.0

import BearerdConfiguration
import OAuth

/// What a token request that failed says of the configuration.
extension ExaminedIdentity {
    /// What providers refuse of a request, by the keys that have it.
    private static let requested: [(reason: TokenFailure.Reason, key: String)] = [
        (.refused(.invalidScope), "scope"), (.refused(.invalidTarget), "resource"),
        (.refused(.unsupportedGrantType), "grant_type"), (.noMetadata, "issuer"), (.issuerMismatch, "issuer"),
        (.badIssuer, "issuer"),
    ]

    /// Whether the provider refused who asks, or nothing was there to prove that with, whatever was asked for.
    func isDisbelieved(by failure: CommandFailure) -> Bool {
        var reasons: [TokenFailure.Reason] = [.refused(.invalidClient), .refused(.unauthorizedClient)]
        if let proof {
            reasons += [.noCredential(proof), .unreadableCredential(proof), .badCredential(proof)]
        }
        return reasons.contains { TroubleCode($0) == failure.code }
    }

    /// The command or the key that mends it.
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

    /// What the client proves itself with; nil where that is no secret of the configuration.
    private var proof: Credential? {
        let known = configuration.credentialKeys
        return switch client.authentication {
        case .basic, .post, .clientSecretJWT: .clientSecret
        case .privateKeyJWT: known[.assertion] != nil && known[.privateKey] == nil ? .assertion : .privateKey
        case .none, .tlsClientAuth, .selfSignedTLSClientAuth: nil
        }
    }

    /// The key that has it.
    private var proofKey: String {
        switch client.authentication {
        case .none: key("client_id")
        case .tlsClientAuth, .selfSignedTLSClientAuth: key("client_certificate_file")
        case .basic, .post, .clientSecretJWT, .privateKeyJWT:
            key(proof.flatMap { configuration.credentialKeys[$0] } ?? "client_secret")
        }
    }
}
