// SPDX-License-Identifier: Apache-2.0

internal import BearerdAdminAPI
internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import OAuth

extension IdentityConfiguration {
    /// - Returns: nil if something indispensable is missing, which is reported.
    init?(reading section: Section<IdentityKey>, name: Found<String>, timeouts: TimeoutsConfiguration) {
        IdentityConfiguration.check(name, in: section)
        transport = TransportConfiguration(
            reading: section, skipsVerification: section.value(.insecureSkipVerify, .flag, default: false))
        if transport.skipsVerification {
            section.warn(.insecureSkipVerify, "turns off every check of the provider's certificate")
        }
        preset = section.value(.preset, ValueKind<Preset>.word)?.value
        credentials = section.credentials(preset)
        credentialKeys = section.credentialKeys(of: credentials)
        onStateChange = section.hook(.onStateChange)

        redirectListen = section.value(.redirectListen, .redirectListen)?.value
        if redirectListen?.isLoopback == false {
            section.warn(
                .redirectListen,
                "is off loopback, where nobody can tell whose browser comes: state and PKCE alone guard the login"
            )
        }
        redirectURI = section.redirectURI(isBoundElsewhere: section.has(.redirectListen))

        let clientID = section.value(.clientID, .text)?.value
        let grantType = section.value(
            .grantType, .grantType, default: preset?.grantType ?? .authorizationCode)
        var client = ClientConfiguration(
            name: name.value, clientID: clientID ?? "", grantType: grantType)
        client.isOfFile = true
        client.grantFile =
            credentials[.subjectToken]?.path
            ?? (grantType == .jwtBearer ? credentials[.assertion]?.path : nil)
        client.profile = section.value(.profile, ValueKind<SecurityProfile>.word)?.value
        client.readProvider(section, preset: preset, connectTo: transport.connectTo)
        client.readAuthentication(section, preset: preset)
        if !section.isInDoubt(.grantType) { client.readGrant(section, preset: preset) }
        section.checkWorkload(preset)
        client.readRequest(section)
        client.readLifetimes(section)
        if let preset { client.apply(preset, section) }
        client.readProofs(section)
        if client.profile == .fapi2 {
            client.keepFAPI2(
                section, key: try? credentials[.privateKey].map { try PrivateKey(parsing: $0.read()) })
        }
        client.tokenTimeLimit = timeouts.token
        guard clientID != nil || client.needsNoClient || section.mayRegister else { return nil }
        self.client = client
    }

    /// Checks a name for use in URLs, file names and metric labels.
    static func check(_ name: Found<String>, in section: Section<IdentityKey>) {
        let text = name.value.utf8
        if name.value == RouteConfiguration.noIdentity {
            section.reading.error("'none' is no name: it means a route without a token", at: name.place)
        } else if !(1...64).contains(text.count) || !text.allSatisfy(isNameByte)
            || text.first == UInt8(ascii: ".")
        {
            let rule = "a name has at most 64 letters, digits, '-', '_' and '.', no '.' at its beginning"
            section.reading.error(rule, at: name.place)
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLetter || byte.isDigit || "-_.".utf8.contains(byte)
    }
}

extension Section<IdentityKey> {
    /// True if the identity may be without a client because the provider can register one; reports what is missing.
    fileprivate var mayRegister: Bool {
        guard !has(.clientID), !isInDoubt(.clientID) else { return false }
        if hasSecret(.clientSecret) {
            error(.clientID, "is missing, and \(spelling(ofSecret: .clientSecret)) is of no use without it")
            return false
        }
        guard has(.registrationEndpoint) || has(.issuer) || has(.discoveryURL) else {
            let sources: [IdentityKey] = [.registrationEndpoint, .issuer, .discoveryURL, .preset]
            if !sources.contains(where: isInDoubt) { require(.clientID) }
            return false
        }
        warn(.clientID, "is missing: 'bearerd register' gets one, or configure it")
        return true
    }

    /// Reports a redirect for whose address the daemon listens for other requests.
    ///
    /// - Parameters:
    ///   - listen: the addresses of data listeners.
    ///   - admin: the address of the admin listener.
    func checkRedirect(
        of identity: IdentityConfiguration, beside listen: [ListenAddress], admin: ListenAddress?
    ) {
        guard identity.client.grantType == .authorizationCode else { return }
        if let admin, identity.redirects(arriveAt: admin),
            let resource = AdminResource(path: identity.redirectURI.path), resource != .callback
        {
            error(
                .redirectURI,
                "the admin listener has a page of its own at \(identity.redirectURI.path), which would get the answer of a login: take "
                    + "another path, such as /callback, or another port, and register that")
            return
        }
        if let admin, case .tcp(let own, let port) = admin, identity.redirects(arriveAt: admin),
            identity.redirectListen == nil, identity.redirectURI.host == "localhost",
            IPAddress.bytes(of: own)?.count == 4
        {
            warn(
                .redirectURI,
                "is at localhost, which browsers look for at [::1] first, and admin.listen is \(own) alone: whoever listens at "
                    + "[::1]:\(port) gets the login; say 127.0.0.1 and register that, or admin.listen: localhost:\(port), which is both"
            )
        }
        guard case .tcp(let host, let port) = identity.redirectAddress,
            let url = HTTPURL("http://\(host.contains(":") ? "[\(host)]" : host):\(port)"),
            let own = listen.first(where: { $0.isReached(by: url, at: nil) })
        else { return }
        warn(
            identity.redirectListen == nil ? .redirectURI : .redirectListen,
            "is at \(own) (listen), where programs send their requests: nobody can log in while the daemon runs; take another "
                + "port, or that of admin.listen, and register it"
        )
    }

    /// The redirect URI of a login: on loopback, unless something else hands the redirect on to us.
    fileprivate func redirectURI(isBoundElsewhere: Bool) -> RedirectURI {
        guard let uri = value(.redirectURI, .redirectURI)?.value else { return .standard }
        if !isBoundElsewhere, uri.scheme != .http || !uri.isLoopback {
            error(.redirectURI, "is not http on loopback: say with redirect_listen where it arrives")
        }
        return uri
    }
}
