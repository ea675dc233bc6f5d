// SPDX-License-Identifier: Apache-2.0

internal import BearerdHTTPMessages
internal import OAuth

/// The keys of `identities.NAME` that the engine uses.
extension ClientConfiguration {
    private static let endpointKeys: [(IdentityKey, Endpoint)] = [
        (.authorizationEndpoint, .authorization),
        (.tokenEndpoint, .token),
        (.deviceAuthorizationEndpoint, .deviceAuthorization),
        (.userinfoEndpoint, .userinfo),
        (.revocationEndpoint, .revocation),
        (.endSessionEndpoint, .endSession),
        (.registrationEndpoint, .registration),
        (.introspectionEndpoint, .introspection),
        (.pushedAuthorizationRequestEndpoint, .pushedAuthorizationRequest),
        (.keysURI, .keys),
    ]

    /// Endpoints to which no request is sent yet.
    private static let unusedEndpoints: Set<Endpoint> = [.introspection]

    /// Reads the authorization server's identity and endpoints.
    mutating func readProvider(
        _ section: Section<IdentityKey>, preset: Preset?, connectTo: ConnectAddress?
    ) {
        allowsInsecureProvider =
            section.flag(.allowInsecureProvider) ?? true || section.isInDoubt(.connectTo)
        connectsToLoopback = connectTo?.isLoopback
        if let issuer = section.value(.issuer, .issuer) {
            self.issuer = preset?.spelled(issuer.value) ?? issuer.value
            checkTransport(of: HTTPURL(issuer.value), .issuer, section)
        } else if !section.has(.issuer) {
            issuer = preset?.issuer
        }
        if let url = section.value(.discoveryURL, .url)?.value {
            discoveryURL = url
            checkTransport(of: url, .discoveryURL, section)
        }
        for (key, endpoint) in Self.endpointKeys {
            guard let url = section.value(key, .url)?.value else { continue }
            endpoints[endpoint] = url
            checkTransport(of: url, key, section)
            if Self.unusedEndpoints.contains(endpoint) { section.warn(key, "is not used yet") }
        }
        let others: [IdentityKey] = [.discoveryURL, .tokenEndpoint, .preset]
        if issuer == nil, !others.contains(where: section.isInDoubt), endpoints[.token] == nil,
            !section.has(.discoveryURL), let endpoint = preset?.tokenEndpoint
        {
            endpoints[.token] = endpoint
        }
        if issuer == nil, !section.has(.discoveryURL), endpoints[.token] == nil,
            !others.contains(where: section.isInDoubt)
        {
            section.require(.issuer, "is missing, and there is neither discovery_url nor token_endpoint")
        }
    }

    /// Refuses plain HTTP off loopback: it shows the client's secret and tokens to everybody on the way.
    private func checkTransport(of url: HTTPURL?, _ key: IdentityKey, _ section: Section<IdentityKey>) {
        guard let url, url.scheme == .http, !allowsInsecureProvider else { return }
        guard !(connectsToLoopback ?? url.isLoopback) else { return }
        section.error(
            key,
            "plain http off loopback shows the secret: say https://, or, if it has to be, allow_insecure_provider: true"
        )
    }

    /// Reads the parameters of requests.
    mutating func readRequest(_ section: Section<IdentityKey>) {
        clientName = "bearerd \(name)"
        sendsScopeOnRefresh = section.flag(.scopeOnRefresh) ?? false
        scope = section.words(.scope, .scopeToken)?.distinctValues ?? []
        audience = section.words(.audience, .text)?.distinctValues ?? []
        resource = section.words(.resource, .resource)?.distinctValues ?? []
        tokenParameters = section.parameters(.tokenParameters) { TokenParameter(rawValue: $0) != nil }
        authorizationParameters = section.parameters(
            .authorizationParameters, objection: Self.objection(toAuthorization:)
        ) { AuthorizationParameter(rawValue: $0) != nil }
        deviceParameters = section.parameters(.deviceAuthorizationParameters) {
            AuthorizationParameter(rawValue: $0) != nil || TokenParameter(rawValue: $0) != nil
        }
        revocationParameters = section.parameters(.revocationParameters) {
            LogoutParameter(rawValue: $0) != nil || TokenParameter(rawValue: $0) != nil
        }
        endSessionParameters = section.parameters(.endSessionParameters) {
            LogoutParameter(rawValue: $0) != nil
        }
        registrationMetadata = section.members(.registrationParameters) { name in
            guard !name.isEmpty else { return "a parameter needs a name" }
            return RegistrationMember.isBuiltIn(name)
                ? "clashes with a parameter that bearerd sends itself" : nil
        }
        postLogoutRedirectURI = section.value(.postLogoutRedirectURI, .resource)?.value
        tokenHeaders = section.headers(.tokenHeaders)
        userinfoHeaders = section.headers(.userinfoHeaders)
    }

    /// Reads how responses are judged.
    mutating func readLifetimes(_ section: Section<IdentityKey>) {
        let further = section.oneOrMany(.acceptTokenTypes, .text)?.distinctValues ?? []
        acceptedTokenTypes += further.map { $0.lowercased() }.filter { !acceptedTokenTypes.contains($0) }
        refreshMargin = section.value(.refreshMargin, .duration)?.value
        clockSkew = section.value(.clockSkew, .duration, default: clockSkew)
        defaultLifetime = section.value(.defaultExpiresIn, .positiveDuration, default: defaultLifetime)
    }
}

extension [Found<String>] {
    var distinctValues: [String] {
        var seen: Set<String> = []
        return map(\.value).filter { seen.insert($0).inserted }
    }
}

extension Section<IdentityKey> {
    /// Additional parameters of a request.
    fileprivate func parameters(
        _ key: IdentityKey, objection: (NamedValue) -> String? = { _ in nil }, isBuiltIn: (String) -> Bool
    ) -> [NamedValue] {
        namedValues(key, valueObjection: objection) { name in
            guard !name.isEmpty else { return "a parameter needs a name" }
            return isBuiltIn(name) ? "clashes with a parameter that bearerd sends itself" : nil
        }
    }

    /// Additional header fields of a request.
    fileprivate func headers(_ key: IdentityKey) -> [NamedValue] {
        namedValues(key) { name in
            guard let field = HTTPFields.Name(name) else { return "is not the name of a header" }
            return WireGrammar.builtInHeaders.contains(field)
                ? "clashes with a header that bearerd sends itself" : nil
        }
    }

    fileprivate func namedValues(
        _ key: IdentityKey, valueObjection: (NamedValue) -> String? = { _ in nil },
        objection: (String) -> String?
    ) -> [NamedValue] {
        (map(key, .textThatMayBeEmpty) ?? []).compactMap { name, value in
            if let objection = objection(name.value) {
                reading.error(objection, at: name.place)
                return nil
            }
            let pair = NamedValue(name.value, value.value)
            guard let objection = valueObjection(pair) else { return pair }
            reading.error(objection, at: value.place)
            return nil
        }
    }
}
