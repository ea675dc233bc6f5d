// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import OAuth

/// Identities whose tokens come from a `source` in place of an authorization server.
extension IdentityConfiguration {
    /// - Returns: nil if something indispensable is missing, which is reported.
    init?(readingSource section: Section<IdentityKey>, name: Found<String>, timeouts: TimeoutsConfiguration) {
        IdentityConfiguration.check(name, in: section)
        guard let kind = section.value(.source, ValueKind<TokenSource.Name>.word)?.value else { return nil }
        credentials = section.credentials(of: kind)
        credentialKeys = section.credentialKeys(of: credentials)
        guard let source = section.source(kind, credentials) else { return nil }
        transport = TransportConfiguration(reading: section, skipsVerification: false)
        onStateChange = section.command(.onStateChange)
        redirectURI = .standard
        redirectListen = nil
        var client = ClientConfiguration(name: name.value, source: source)
        client.refreshMargin = section.value(.refreshMargin, .duration)?.value
        client.tokenTimeLimit = timeouts.token
        self.client = client
    }
}

extension Section<IdentityKey> {
    /// The credentials of a source.
    fileprivate func credentials(of kind: TokenSource.Name) -> [Credential: SecretSource] {
        var sources: [Credential: SecretSource] = [:]
        switch kind {
        case .fixed: sources[.token] = renewedSecret(.token)
        case .basic: sources[.password] = secret(.password)
        }
        return sources
    }

    /// The settings of a source; nil if something is missing, which is reported.
    fileprivate func source(
        _ kind: TokenSource.Name, _ credentials: [Credential: SecretSource]
    ) -> TokenSource? {
        switch kind {
        case .fixed:
            requireSecret(.token, "is missing: token_file, token_credential or token")
            guard let token = credentials[.token] else { return nil }
            return .fixed(place: token.path ?? spelling(ofSecret: .token))
        case .basic:
            require(.username)
            requireSecret(.password, "is missing: password_file, password_credential or password")
            guard let username = value(.username, .text) else { return nil }
            guard !username.value.contains(":") else {
                error(.username, "has a colon, which would end the name there (RFC 7617 section 2)")
                return nil
            }
            return credentials[.password].map { _ in .basic(username: username.value) }
        }
    }

    private func requireSecret(_ key: IdentityKey, _ reason: String) {
        guard isMap, !hasSecret(key), !isInDoubt(key) else { return }
        error(key, reason)
    }
}
