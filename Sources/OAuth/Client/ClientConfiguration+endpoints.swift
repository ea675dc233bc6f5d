// SPDX-License-Identifier: Apache-2.0

import BearerdHTTPMessages

extension ClientConfiguration {
    /// A client of a server with the given endpoints.
    ///
    /// - Returns: nil if one of them is no absolute `http` or `https` URL.
    public init?(
        name: String, clientID: String, authorizationEndpoint: String, tokenEndpoint: String,
        endSessionEndpoint: String? = nil, registrationEndpoint: String? = nil
    ) {
        self.init(name: name, clientID: clientID, grantType: .authorizationCode)
        let given: [(Endpoint, String?)] = [
            (.authorization, authorizationEndpoint), (.token, tokenEndpoint),
            (.endSession, endSessionEndpoint),
            (.registration, registrationEndpoint),
        ]
        for (endpoint, text) in given {
            guard let text else { continue }
            guard set(endpoint, to: text) else { return nil }
        }
    }

    /// A client of a server whose metadata are known, as from ``ServiceConfiguration/discover(for:over:)``.
    ///
    /// Its endpoints are not discovered again, except those with an alias for mutual TLS (RFC 8705 §5). Other metadata
    /// are discovered from the issuer when they are needed.
    public init(name: String, clientID: String, service: ServiceConfiguration) {
        self.init(name: name, clientID: clientID, grantType: .authorizationCode)
        issuer = service.issuer
        endpoints = service.endpoints.filter { service.aliases[$0.key] == nil }
    }

    /// Sets an endpoint, in place of that of the server's metadata.
    ///
    /// - Returns: false, with nothing changed, for anything but an absolute `http` or `https` URL.
    @discardableResult
    public mutating func set(_ endpoint: Endpoint, to text: String) -> Bool {
        guard let url = HTTPURL(text), url.scheme != .unix else { return false }
        endpoints[endpoint] = url
        return true
    }

    /// A client of Google that asks for a refresh token.
    public static func google(name: String, clientID: String) -> ClientConfiguration {
        ClientConfiguration(.google, name: name, clientID: clientID)
    }
}

extension ClientConfiguration {
    /// Throws if credentials may not be sent to `url`.
    ///
    /// - Throws: ``TokenFailure`` of kind misconfigured for plain HTTP off loopback, unless that is allowed.
    func permit(_ url: HTTPURL) throws(TokenFailure) {
        guard isPermitted(url) else {
            throw TokenFailure(
                .misconfigured, .insecureEndpoint,
                detail: "\(url.origin) is plain http: use https, or see \(name(of: .allowsInsecureProvider))")
        }
    }

    /// Returns true if nobody can read along on the way to `url`, or that is allowed.
    func isPermitted(_ url: HTTPURL) -> Bool {
        // The transport judges the address that is connected to.
        if source?.isNearby ?? false { return true }
        let isLocal = connectsToLoopback ?? url.isLoopback
        return url.scheme == .https || url.scheme == .unix || isLocal || allowsInsecureProvider
    }
}
