// SPDX-License-Identifier: Apache-2.0

extension ClientConfiguration {
    /// A client of a server whose endpoints are given by hand.
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

    /// A client of a server that is known already, as from ``ServiceConfiguration/discover(for:over:)``.
    ///
    /// Its endpoints need not be found out again, but for those where clients with a certificate are to go elsewhere
    /// (RFC 8705 §5). What else the server says of itself is found out from its issuer, when it is wanted.
    public init(name: String, clientID: String, service: ServiceConfiguration) {
        self.init(name: name, clientID: clientID, grantType: .authorizationCode)
        issuer = service.issuer
        endpoints = service.endpoints.filter { service.aliases[$0.key] == nil }
    }

    /// Gives an endpoint by hand, in place of what the server's metadata say.
    ///
    /// - Returns: false, with nothing changed, for what is no absolute `http` or `https` URL.
    @discardableResult
    public mutating func set(_ endpoint: Endpoint, to text: String) -> Bool {
        guard let url = HTTPURL(text), url.scheme != .unix else { return false }
        endpoints[endpoint] = url
        return true
    }

    /// A client of Google, which gives a refresh token only where that is asked for.
    public static func google(name: String, clientID: String) -> ClientConfiguration {
        ClientConfiguration(.google, name: name, clientID: clientID)
    }
}
