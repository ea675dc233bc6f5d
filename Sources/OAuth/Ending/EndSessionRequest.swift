// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
public import BearerdHTTPMessages

/// A request to end the user's session at the provider (OpenID Connect RP-Initiated Logout §2).
public struct EndSessionRequest: Sendable {
    /// The end session endpoint.
    public let endpoint: HTTPURL
    /// Tells the provider whose session it is, so that it need not ask; nil where there is none.
    public let idToken: Secret?
    /// The client that asks (`client_id`).
    public let clientID: String
    /// Where the browser goes in the end (`post_logout_redirect_uri`).
    public let postLogoutRedirectURI: String?
    /// What comes back there, drawn anew for each request; nil where nothing does.
    public let state: String?
    /// What else the configuration wants sent.
    public let additionalParameters: [NamedValue]

    init(
        endpoint: HTTPURL, idToken: Secret?, configuration: ClientConfiguration,
        _ options: EndSessionOptions = EndSessionOptions()
    ) {
        self.endpoint = endpoint
        self.idToken = idToken
        clientID = configuration.clientID
        postLogoutRedirectURI = options.redirectURI ?? configuration.postLogoutRedirectURI
        state = postLogoutRedirectURI.map { _ in options.state ?? SecureRandom.word() }
        additionalParameters = configuration.endSessionParameters + options.parameters
    }

    /// What is posted, in order; holds the id token.
    package var parameters: [NamedValue] {
        let hint = idToken.map { [NamedValue(LogoutParameter.idTokenHint.rawValue, $0.withPlaintext { $0 })] }
        return (hint ?? []) + openParameters
    }

    /// What may be seen.
    private var openParameters: [NamedValue] {
        let own: [(LogoutParameter, String?)] = [
            (.clientID, clientID), (.postLogoutRedirectURI, postLogoutRedirectURI), (.state, state),
        ]
        return own.compactMap { name, value in value.map { NamedValue(name.rawValue, $0) } }
            + additionalParameters
    }

    /// The address for a browser, in which no token is: the provider knows the user by its cookie, and asks.
    public var url: String {
        var query = FormBody()
        for parameter in openParameters { query.append(name: parameter.name, parameter.value) }
        return
            "\(endpoint)\(endpoint.query == nil ? "?" : "&")\(String(decoding: query.bytes, as: UTF8.self))"
    }

    /// Whether a URL that was opened is where the provider sends the browser after this request (§3).
    public func isAnswered(by url: String) -> Bool {
        guard let redirectURI = postLogoutRedirectURI, let address = NormalizedURI(url),
            address == NormalizedURI(redirectURI)
        else { return false }
        return QueryParameters(address.query ?? "")?[.state] == state
    }
}
