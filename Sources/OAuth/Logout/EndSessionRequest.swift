// SPDX-License-Identifier: Apache-2.0

public import BearerdCryptography
public import BearerdHTTPMessages
import BearerdJSONText

/// A request to end the user's session at the authorization server (OpenID Connect RP-Initiated Logout §2).
public struct EndSessionRequest: Sendable {
    /// The end session endpoint.
    public let endpoint: HTTPURL
    /// The ID token that names the session (`id_token_hint`); nil if there is none, and the authorization server asks the
    /// user.
    public let idToken: Secret?
    /// The client's `client_id`.
    public let clientID: String
    /// The `post_logout_redirect_uri`, to which the authorization server sends the browser afterwards.
    public let postLogoutRedirectURI: String?
    /// The `state` that comes back to the redirect URI, random unless the caller chose it; nil without a
    /// redirect URI.
    public let state: String?
    /// Further configured parameters.
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

    /// The form's parameters in order, with the ID token.
    package var parameters: [NamedValue] {
        let hint = idToken.map { [NamedValue(LogoutParameter.idTokenHint.rawValue, $0.withPlaintext { $0 })] }
        return (hint ?? []) + openParameters
    }

    /// The parameters without the ID token.
    private var openParameters: [NamedValue] {
        let own: [(LogoutParameter, String?)] = [
            (.clientID, clientID), (.postLogoutRedirectURI, postLogoutRedirectURI), (.state, state),
        ]
        return own.compactMap { name, value in value.map { NamedValue(name.rawValue, $0) } }
            + additionalParameters
    }

    /// The URL for a browser, without the ID token; the authorization server knows the user by its cookie, and asks.
    public var url: String { url(of: openParameters) }

    /// The URL for a browser with the ID token (`id_token_hint`), for providers that end no session without.
    ///
    /// Claims about the person stay in the browser's history and in the logs of proxies; so ``url`` is the one to use where
    /// it works. Equal to that without an ID token.
    public var urlWithIDTokenHint: Secret {
        // The id token is listed; the endpoint is nothing that messages must not name.
        Secret(unlisted: Array(url(of: parameters).utf8))
    }

    private func url(of parameters: [NamedValue]) -> String {
        var query = FormBody()
        for parameter in parameters { query.append(name: parameter.name, parameter.value) }
        return
            "\(endpoint)\(endpoint.query == nil ? "?" : "&")\(String(decoding: query.bytes, as: UTF8.self))"
    }

    /// Returns true if a URL is the redirect URI with the `state` of this request (§3).
    public func isAnswered(by url: String) -> Bool {
        guard let redirectURI = postLogoutRedirectURI, let address = NormalizedURI(url),
            address == NormalizedURI(redirectURI)
        else { return false }
        return state?.hasSameBytes(as: QueryParameters(address.query ?? "")?[.state]) ?? false
    }
}
