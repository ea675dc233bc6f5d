// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import BearerdSystem
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
        onStateChange = section.hook(.onStateChange)
        redirectURI = .standard
        redirectListen = nil
        preset = nil
        var client = ClientConfiguration(name: name.value, source: source)
        client.isOfFile = true
        client.refreshMargin = section.value(.refreshMargin, .duration)?.value
        client.tokenTimeLimit = timeouts.token
        client.scope = section.words(.scope, .scopeToken)?.distinctValues ?? []
        client.audience = section.oneOrMany(.audience, .text)?.distinctValues ?? []
        client.resource = section.oneOrMany(.resource, .resource)?.distinctValues ?? []
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
        case .googleMetadata, .command: break
        case .azureIdentity:
            sources[.identityHeader] = reading.environment(Variable.identityHeader).flatMap {
                $0.isEmpty ? nil : .literal(Secret($0))
            }
        case .gitHubApp:
            sources[.privateKey] = file(.privateKeyFile) { text in
                guard let key = try? PrivateKey(parsing: text), key.fits(.rs256) else {
                    return "holds no RSA key of 2048 bits, in PEM (PKCS #1 or #8) without a passphrase"
                }
                return nil
            }
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
        case .googleMetadata: return googleMetadata
        case .azureIdentity: return azureIdentity(credentials)
        case .gitHubApp: return gitHubApp(credentials)
        case .command: return tokenCommand
        }
    }

    private var googleMetadata: TokenSource? {
        if has(.audience), has(.scope) {
            error(.scope, "asks for an access token, and audience for an identity token: give one of the two")
        }
        if let audiences = oneOrMany(.audience, .text), audiences.count != 1 {
            error(.audience, "is one text: an identity token is for one audience")
        }
        let host = reading.environment(Variable.metadataHost).flatMap { $0.isEmpty ? nil : $0 }
        guard let server = HTTPURL("http://\(host ?? "metadata.google.internal")"), server.path.isEmpty else {
            error(.source, "\(Variable.metadataHost) is not HOST or HOST:PORT")
            return nil
        }
        return .googleMetadata(server: server, account: value(.serviceAccount, .text, default: "default"))
    }

    private func azureIdentity(_ credentials: [Credential: SecretSource]) -> TokenSource? {
        require(.resource, "is missing: the URI of what the token is for, as in https://vault.azure.net")
        if let resources = oneOrMany(.resource, .resource), resources.count != 1 {
            error(.resource, "is one URI: a token is for one resource")
        }
        let clientID = value(.clientID, .text)?.value
        guard let text = reading.environment(Variable.identityEndpoint), !text.isEmpty else {
            return HTTPURL("http://169.254.169.254/metadata/identity/oauth2/token").map {
                .azureIdentity(AzureIdentity(endpoint: $0, isOfAppService: false, clientID: clientID))
            }
        }
        guard let endpoint = HTTPURL(text), endpoint.scheme != .unix else {
            error(.source, "\(Variable.identityEndpoint) is not an http or https URL")
            return nil
        }
        guard credentials[.identityHeader] != nil else {
            error(.source, "\(Variable.identityEndpoint) is set without \(Variable.identityHeader)")
            return nil
        }
        return .azureIdentity(AzureIdentity(endpoint: endpoint, isOfAppService: true, clientID: clientID))
    }

    private func gitHubApp(_ credentials: [Credential: SecretSource]) -> TokenSource? {
        for key in [IdentityKey.appID, .installationID, .privateKeyFile] { require(key) }
        let api = value(.api, .url)?.value ?? HTTPURL("https://api.github.com")
        let (app, installation) = (
            value(.appID, .pathSegment)?.value, value(.installationID, .pathSegment)?.value
        )
        let (repositories, permissions) = (repositories(.repositories), permissions(.permissions))
        let connectTo = value(.connectTo, .connectAddress)?.value
        guard let api, let app, let installation else { return nil }
        if api.scheme == .http, !(connectTo?.isLoopback ?? api.isLoopback) {
            error(.api, "plain http off loopback shows the App's proof and the token: use https")
        }
        if api.query != nil { error(.api, "has a query: paths are put behind it") }
        var source = GitHubApp(appID: app, installationID: installation, api: api)
        source.repositories = repositories ?? []
        source.permissions = permissions ?? []
        return credentials[.privateKey].map { _ in .gitHubApp(source) }
    }

    private var tokenCommand: TokenSource? {
        require(.command, "is missing: a list of a program and its arguments")
        let limit = value(.timeout, .positiveDuration, default: .seconds(10))
        guard let words = command(.command) else { return nil }
        guard let program = words.first, !program.isEmpty else {
            if words.isEmpty { error(.command, "is empty: it needs a program") }
            return nil
        }
        if let obstacle = ChildProcess.obstacle(to: program) { error(.command, "\(program) \(obstacle)") }
        guard words.reduce(0, { $0 + $1.utf8.count + 1 }) < CommandHelper.longestCommand, words.count <= 1024
        else {
            error(.command, "is too long: 1024 words and \(CommandHelper.longestCommand) bytes at most")
            return nil
        }
        return .command(TokenProgram(words: words, limit: limit))
    }

    private func requireSecret(_ key: IdentityKey, _ reason: String) {
        guard isMap, !hasSecret(key), !isInDoubt(key) else { return }
        error(key, reason)
    }
}

extension Section {
    /// The names of repositories.
    func repositories(_ key: Key) -> [String]? {
        guard let names = words(key, .pathSegment)?.distinctValues else { return nil }
        if names.isEmpty { refuseNothing(key) }
        return names
    }

    /// A map of permissions and their levels, in the order of their names.
    func permissions(_ key: Key) -> [NamedValue]? {
        guard let entries = map(key, .text) else { return nil }
        if entries.isEmpty { refuseNothing(key) }
        return entries.map { NamedValue($0.name.value, $0.value.value) }.sorted { $0.name < $1.name }
    }

    /// A request that names none gets a token for all.
    private func refuseNothing(_ key: Key) {
        guard !isInDoubt(key) else { return }
        error(
            key,
            "is empty, which GitHub takes for all of the installation's: name what the token is for, or leave the key out"
        )
    }
}

extension ValueKind<String> {
    /// A text without a space, a slash or what ends a path.
    fileprivate static var pathSegment: ValueKind {
        text.checked("is no name: it holds a space, '/', '?', '#' or '%'") { text in
            !text.utf8.contains { " /?#%".utf8.contains($0) } && text != "." && text != ".."
        }
    }
}
