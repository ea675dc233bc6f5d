// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// What came back with the browser.
extension AuthorizationRequest {
    /// What is made of a response (RFC 6749 §4.1.2): the code, or the server's refusal.
    public enum Response: Sendable {
        /// A code, good for one exchange.
        case granted(AuthorizationCode)
        /// The server's, or the person's, "no".
        case refused(AuthorizationRefusal)
    }

    /// Reads the response in a URL that was opened, whatever else is in it.
    ///
    /// - Parameter url: the redirect URI, with what the server has put behind it.
    /// - Throws: ``AuthorizationResponseError/otherAddress`` for a URL that is not of this request's redirect URI; else as
    ///   ``response(in:)``.
    public func response(to url: String) throws(AuthorizationResponseError) -> Response {
        guard let address = RedirectAddress(url), address == RedirectAddress(redirectURI) else {
            throw .otherAddress
        }
        // A redirect URI may have a query of its own, which comes back in front (RFC 6749 §3.1.2).
        return try response(in: address.query ?? "")
    }

    /// Reads the response in a redirect's query.
    ///
    /// Nothing of a response is believed, its error neither, before its state and issuer are ours. A response that is
    /// not believed changes nothing here: see ``AuthorizationResponseError/endsLogin``.
    ///
    /// - Parameter query: without the `?`.
    /// - Throws: ``AuthorizationResponseError``; no input traps.
    public func response(in query: String) throws(AuthorizationResponseError) -> Response {
        guard let parameters = QueryParameters(query) else { throw .malformed }
        guard let state = parameters[.state], self.state.matches(Array(state.utf8)) else {
            throw .stateMismatch
        }
        try check(issuer: parameters[.issuer])
        switch (parameters[.code], parameters[.error]) {
        case (let code?, nil):
            var granted = AuthorizationCode(
                code: Secret(code), redirectURI: redirectURI, verifier: verifier, nonce: nonce)
            granted.proofKey = proofKey?.privateJWK
            granted.additionalParameters = parameters.additional
            granted.additions = additions
            return .granted(granted)
        case (nil, let error?):
            let (code, description) = (ErrorCode(rawValue: error), parameters[.errorDescription])
            return .refused(
                AuthorizationRefusal(
                    code: code, description: description, page: parameters[.errorURI],
                    wantsPushedRequest: isAboutPushing(code, description)))
        case (_?, _?), (nil, nil):
            throw .malformed
        }
    }

    /// Whether a refusal is one of a request that should have been pushed; RFC 9126 has no code for it, and servers say
    /// it in words of their own.
    private func isAboutPushing(_ code: ErrorCode?, _ description: String?) -> Bool {
        guard !isPushed else { return false }
        if wantsPush, code == .invalidRequest { return true }
        return description?.lowercased().contains("pushed authorization") ?? false
    }

    /// Another server must not answer for the one that was asked (RFC 9207 §2.4).
    private func check(issuer answered: String?) throws(AuthorizationResponseError) {
        guard let answered else {
            if requiresIssuer { throw .issuerMissing }
            return
        }
        if let issuer, answered != issuer { throw .issuerMismatch(found: answered, expected: issuer) }
    }

    /// The state in a redirect's query, by which a program that waits for several answers finds the request; nil where
    /// there is none.
    ///
    /// - Parameter query: without the `?`.
    public static func state(in query: String) -> String? { QueryParameters(query)?[.state] }
}
