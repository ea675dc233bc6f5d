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

    /// Answers of an address that is no token endpoint.
    private static let strange: [TokenFailure.Reason] = [
        .emptyResponse, .noAccessToken, .status(404), .status(405),
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
        if client.source != nil { return sourceFix }
        if failure.code == TroubleCode(.refused(.unauthorizedClient)) {
            return "\(proofKey), or the client at the provider, which has to allow it this grant_type"
        }
        if isDisbelieved(by: failure) { return proofKey }
        if client.endpoints[.token] != nil, Self.strange.contains(where: { TroubleCode($0) == failure.code })
        {
            return key("token_endpoint")
        }
        if let requested = Self.requested.first(where: { TroubleCode($0.reason) == failure.code }) {
            return key(requested.key)
        }
        if failure.code == TroubleCode(.certificate) {
            return
                "\(key("ca_file")) or the provider's certificate, as the error says"
        }
        return switch failure.status {
        case .permission where client.grantType.needsPerson: "bearerd login \(name)"
        case .unavailable: unavailableMend(of: failure)
        case _ where failure.code == TroubleCode(.refused(.invalidGrant)): grantMend
        default:
            "\(key("client_id")) and what the provider lets that client do: its own log tells why it refuses"
        }
    }

    /// The remedy where the provider is reached, and what comes back is of no use.
    static let providerMend = "the provider, which is reached: its own log tells more"

    private func unavailableMend(of failure: CommandFailure) -> String {
        let unreached: [TokenFailure.Reason] = [.unreachable, .noMetadata, .badIssuer]
        guard failure.code != nil, !unreached.contains(where: { TroubleCode($0) == failure.code }) else {
            return "the provider, or the way to it: bearerd doctor \(name) --check discovery"
        }
        return Self.providerMend
    }

    /// The remedy for a grant from the configuration that the provider takes for invalid.
    private var grantMend: String {
        let known = configuration.credentialKeys
        let proofs = [Credential.assertion, .subjectToken, .password].compactMap { known[$0] }
        return proofs.isEmpty
            ? "the client \(client.clientID) at the provider, whose own log tells why it refuses; and the check clock"
            : "\(proofs.map(key).joined(separator: " or ")): what the provider is shown has expired or is for somebody else"
    }

    /// The place to look at when a source's tokens are wrong.
    var sourceFix: String {
        guard let source = client.source else { return key("issuer") }
        let file = configuration.credentialKeys.values.sorted().first.map { key($0) } ?? key("source")
        return switch source.name {
        case .fixed: "\(file): put a token there that the upstream takes"
        case .basic: "\(key("username")) or \(file): the name or the password is not right"
        case .googleMetadata:
            "the machine: is it one of Google's, with a service account? else \(key("service_account")), \(key("scope")) or \(key("audience"))"
        case .azureIdentity:
            "the machine: is it one of Azure's, with a managed identity? else \(key("resource")) or \(key("client_id"))"
        case .gitHubApp:
            "\(key("app_id")), \(key("installation_id")), \(file), \(key("repositories")) or \(key("permissions"))"
        case .command: "\(key("command")): run it by hand, as the daemon's user"
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
