// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdJSON
internal import OAuth

/// The keys by which the client authenticates, and those of its grant.
extension ClientConfiguration {
    /// Reads how the client authenticates.
    mutating func readAuthentication(_ section: Section<IdentityKey>, preset: Preset?) {
        authentication = section.value(
            .tokenEndpointAuthMethod, .word, default: standardAuthentication(section, preset))
        basicEncoding = section.value(.basicEncoding, .word, default: .automatic)
        presentsCertificate = section.has(.clientCertificateFile)
        readAssertions(section)
        let keys: [IdentityKey] = [
            .grantType, .tokenEndpointAuthMethod, .clientSecret, .privateKeyFile, .assertionFile,
            .clientCertificateFile,
        ]
        if !keys.contains(where: section.isInDoubt) { checkAuthentication(section) }
    }

    /// The default method for a client with these credentials.
    private func standardAuthentication(
        _ section: Section<IdentityKey>, _ preset: Preset?
    ) -> ClientAuthentication {
        if section.hasSecret(.clientSecret) { return .basic }
        // The assertion itself is exchanged there, and a second proof makes the request fail.
        if preset?.exchangesAssertion == true { return .none }
        // With `jwt_bearer`, key and assertion belong to the grant.
        guard grantType != .jwtBearer else { return .none }
        if section.has(.privateKeyFile) || section.has(.assertionFile) { return .privateKeyJWT }
        return profile == .fapi2 && section.has(.clientCertificateFile) ? .tlsClientAuth : .none
    }

    private func checkAuthentication(_ section: Section<IdentityKey>) {
        let hasSecret = section.hasSecret(.clientSecret)
        switch authentication {
        case .basic, .post, .clientSecretJWT:
            // A client without an ID gets its secret when it is registered.
            if !hasSecret, section.has(.clientID) {
                section.error(.tokenEndpointAuthMethod, "needs client_secret")
            }
        case .privateKeyJWT:
            if grantType == .jwtBearer, !section.has(.privateKeyFile) {
                section.error(
                    .tokenEndpointAuthMethod,
                    "needs private_key_file: with jwt_bearer assertion_file is the grant's")
            } else if !section.has(.privateKeyFile), !section.has(.assertionFile) {
                section.error(.tokenEndpointAuthMethod, "needs private_key_file or assertion_file")
            }
        case .tlsClientAuth, .selfSignedTLSClientAuth:
            section.require(
                .clientCertificateFile, "is missing, and \(authentication.rawValue) needs it")
        case .none:
            guard !section.has(.tokenEndpointAuthMethod) else {
                if hasSecret {
                    section.error(.tokenEndpointAuthMethod, "'none' would never use client_secret")
                }
                return
            }
            // The grant is for clients that prove themselves alone (RFC 6749 §4.4); one without an ID is registered first.
            guard grantType == .clientCredentials, section.has(.clientID), !presentsCertificate else {
                return
            }
            section.warn(
                .clientID,
                "has nothing by which it proves itself, as client_credentials demands: client_secret_file, private_key_file or "
                    + "client_certificate_file; where a person logs in it is grant_type: authorization_code")
        }
        if authentication == .privateKeyJWT, grantType != .jwtBearer, section.has(.privateKeyFile),
            section.has(.assertionFile)
        {
            section.warn(.privateKeyFile, "is not used: assertion_file is there too, and is sent as it is")
        }
    }

    private mutating func readAssertions(_ section: Section<IdentityKey>) {
        switch section.value(.assertionAudience, .text)?.value {
        case "token_endpoint", nil: break
        case "issuer":
            assertion.audience = .issuer
            if ![IdentityKey.issuer, .discoveryURL, .preset].contains(where: section.has) {
                section.error(
                    .assertionAudience, "needs issuer or discovery_url: else nobody says who that is")
            }
        case let value?: assertion.audience = .value(value)
        }
        assertion.keyID = section.value(.privateKeyID, .text)?.value
        assertion.algorithm = section.value(.signingAlgorithm, .signingAlgorithm)?.value
        assertion.subject = section.value(.subject, .text)?.value
        assertion.claims = section.members(.assertionClaims) { name in
            AssertionClaim(rawValue: name) == nil ? nil : "clashes with a claim that bearerd sets itself"
        }
    }

    // MARK: The grant

    /// Reads the keys of grants that are made from configuration.
    mutating func readGrant(_ section: Section<IdentityKey>, preset: Preset?) {
        username = section.value(.username, .text)?.value
        subjectTokenType = section.value(.subjectTokenType, .tokenType)?.value
        requestedTokenType = section.value(.requestedTokenType, .tokenType)?.value
        switch grantType {
        case .password:
            section.require(.username, "is missing, and the password grant needs it")
            if !section.hasSecret(.password) {
                section.error(.password, "is missing, and the password grant needs it")
            }
            section.warn(
                .grantType,
                "RFC 9700 section 2.4 forbids the password grant: it shows a person's password to us")
        case .tokenExchange:
            if let preset, preset.exchangesAssertion {
                if section.has(.subjectToken) {
                    section.error(
                        .subjectToken,
                        "contradicts preset '\(preset.rawValue)', which exchanges the platform's token; callers' tokens "
                            + "need grant_type: token_exchange without that preset")
                }
                subjectTokenType = subjectTokenType ?? ValueKind.jwtTokenType
                requestedTokenType = requestedTokenType ?? ValueKind.standardTokenType
            } else if section.has(.subjectToken) {
                readCallers(section)
            } else {
                section.require(
                    .subjectTokenFile,
                    "is missing, and token_exchange needs it, or subject_token: from_request")
            }
            subjectTokenType = subjectTokenType ?? ValueKind.standardTokenType
            acceptedTokenTypes.append("n_a")
        case .jwtBearer:
            if !section.has(.assertionFile) {
                section.require(.privateKeyFile, "is missing, and jwt_bearer needs it, or assertion_file")
            }
        default:
            break
        }
        warnOfUnused(section)
    }

    /// Reads whether the callers' own tokens are exchanged.
    private mutating func readCallers(_ section: Section<IdentityKey>) {
        guard let value = section.value(.subjectToken, .text)?.value else { return }
        guard value == Self.fromRequest else {
            section.error(
                .subjectToken,
                "'\(value)' is not \(Self.fromRequest); a token in a file goes into subject_token_file")
            return
        }
        if section.has(.subjectTokenFile) {
            section.error(
                .subjectTokenFile, "contradicts subject_token: the callers' own tokens are exchanged")
        }
        exchangesCallersTokens = true
    }

    private static let fromRequest = "from_request"

    /// Reports keys that belong to another grant.
    ///
    /// A configuration that wants callers to act for themselves must not give each of them the service's own token.
    private func warnOfUnused(_ section: Section<IdentityKey>) {
        if grantType != .tokenExchange, section.has(.subjectToken), !section.isInDoubt(.preset) {
            section.error(
                .subjectToken,
                "needs grant_type: token_exchange; with \(grantType.shortName) every caller would get the identity's own token"
            )
        }
        let owners: [(IdentityKey, GrantType)] = [
            (.username, .password), (.subject, .jwtBearer), (.assertionClaims, .jwtBearer),
            (.subjectTokenFile, .tokenExchange), (.subjectTokenType, .tokenExchange),
            (.requestedTokenType, .tokenExchange),
        ]
        for (key, owner) in owners where section.has(key) && grantType != owner {
            section.warn(key, "is not used: it belongs to grant_type \(owner.shortName)")
        }
    }
}
