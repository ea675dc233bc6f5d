// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdYAML
internal import OAuth

/// Sender-constrained tokens, pushed requests, and the profile that requires both.
extension ClientConfiguration {
    mutating func readProofs(_ section: Section<IdentityKey>) {
        proofs = section.value(
            .dpop, .flag(on: .always, off: .never, or: "auto", .whereOffered), default: .never)
        pushedRequests = section.value(
            .pushedAuthorizationRequests, .flag(on: .always, off: .never, or: "auto", .whereRequired),
            default: .whereRequired)
    }

    /// Holds the client to FAPI 2.0: fills in what the file leaves out, and reports what contradicts the profile.
    ///
    /// - Parameter key: the key that signs assertions; nil if there is none or it cannot be read.
    mutating func keepFAPI2(_ section: Section<IdentityKey>, key: PrivateKey?) {
        func refuse(_ key: IdentityKey, unless isKept: Bool, _ rule: String) {
            guard section.has(key), !section.isInDoubt(key), !isKept else { return }
            section.error(key, "profile fapi2: \(rule)")
        }
        let fapi2 = SecurityProfile.fapi2
        refuse(
            .grantType, unless: fapi2.grantTypes.contains(grantType),
            "the grants are authorization_code, client_credentials and refresh_token (FAPI 2.0 section 5.3.2.1)"
        )
        keepAuthentication(section)
        keepIssuer(section)
        refuse(
            .assertionFile, unless: authentication != .privateKeyJWT,
            "assertions are signed here, with private_key_file (FAPI 2.0 section 5.3.3.1)")
        refuse(
            .signingAlgorithm, unless: assertion.algorithm.map(fapi2.algorithms.contains) ?? true,
            "signatures are PS256, ES256 or EdDSA (FAPI 2.0 section 5.4.1)")
        if assertion.algorithm == nil, key?.fits(.ps256) ?? false { assertion.algorithm = .ps256 }
        refuse(
            .assertionAudience,
            unless: assertion.audience == .issuer || assertion.audience == issuer.map { .value($0) },
            "the audience of an assertion is the issuer (FAPI 2.0 section 5.3.3.1)")
        assertion.audience = .issuer
        refuse(
            .pushedAuthorizationRequests, unless: pushedRequests == .always,
            "requests are pushed: par is true (FAPI 2.0 section 5.3.3.2)")
        pushedRequests = .always
        if !section.has(.dpop), !presentsCertificate { proofs = .always }
        refuse(
            .dpop, unless: proofs == .always || presentsCertificate,
            "tokens are bound to a key (dpop: true) or to a certificate (client_certificate_file) "
                + "(FAPI 2.0 section 5.3.3.1)")
        refuse(
            .acceptTokenTypes, unless: presentsCertificate,
            "tokens are of the type DPoP alone (FAPI 2.0 section 5.3.3.1)")
        for key in [IdentityKey.insecureSkipVerify, .allowInsecureProvider] {
            refuse(
                key, unless: section.flag(key) == false,
                "the provider proves itself by TLS (FAPI 2.0 section 5.2.1)")
        }
    }

    /// Requires a known issuer: assertions are addressed to it, and responses are checked against it.
    private func keepIssuer(_ section: Section<IdentityKey>) {
        let sources: [IdentityKey] = [.issuer, .discoveryURL, .preset]
        guard issuer == nil, discoveryURL == nil, !sources.contains(where: section.isInDoubt),
            grantType == .authorizationCode || authentication == .privateKeyJWT
        else { return }
        section.error(
            .profile,
            "profile fapi2: the issuer must be known: give issuer, in place of endpoints by hand (FAPI 2.0 section 5.3.3.1)"
        )
    }

    private func keepAuthentication(_ section: Section<IdentityKey>) {
        let rule =
            "profile fapi2: the client proves itself with private_key_jwt or a certificate (FAPI 2.0 section 5.3.3.1)"
        guard !section.hasSecret(.clientSecret) else {
            section.reading.error(
                rule, at: section.place(ofSpelling: section.spelling(ofSecret: .clientSecret)))
            return
        }
        switch authentication {
        case .privateKeyJWT, .tlsClientAuth, .selfSignedTLSClientAuth: return
        case .none, .basic, .post, .clientSecretJWT: break
        }
        let keys: [IdentityKey] = [
            .tokenEndpointAuthMethod, .privateKeyFile, .clientCertificateFile, .profile,
        ]
        guard !keys.contains(where: section.isInDoubt) else { return }
        section.error(section.has(.tokenEndpointAuthMethod) ? .tokenEndpointAuthMethod : .profile, rule)
    }
}
