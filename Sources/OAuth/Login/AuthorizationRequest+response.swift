// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSONText

/// Reading the authorization response.
extension AuthorizationRequest {
    /// An authorization response (RFC 6749 §4.1.2).
    public enum Response: Sendable {
        /// A code, good for one exchange.
        case granted(AuthorizationCode)
        /// The refusal of the server or the person.
        case refused(AuthorizationRefusal)
    }

    /// Reads the response in a URL that was opened.
    ///
    /// - Parameter url: the redirect URI with the response's parameters.
    /// - Throws: ``AuthorizationResponseError/otherAddress`` for a URL that is not of this request's redirect URI; else as
    ///   ``response(in:)``.
    public func response(to url: String) throws(AuthorizationResponseError) -> Response {
        guard let address = NormalizedURI(url), address == NormalizedURI(redirectURI) else {
            throw .otherAddress
        }
        // A redirect URI may have a query of its own, which comes back in front (RFC 6749 §3.1.2).
        return try response(in: address.query ?? "")
    }

    /// Reads the response in a redirect's query.
    ///
    /// State and issuer are checked before anything else is believed, errors included. Whether a response that fails the
    /// checks ends the login is for ``AuthorizationResponseError/endsLogin`` to say.
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
            granted.binding = binding
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

    /// Returns true if the server refuses because the request was not pushed, for which RFC 9126 has no code.
    private func isAboutPushing(_ code: ErrorCode?, _ description: String?) -> Bool {
        guard !isPushed else { return false }
        if wantsPush, code == .invalidRequest { return true }
        return description?.lowercased().contains("pushed authorization") ?? false
    }

    /// Throws if another server than the one that was asked has answered (RFC 9207 §2.4).
    private func check(issuer answered: String?) throws(AuthorizationResponseError) {
        guard let answered else {
            if requiresIssuer { throw .issuerMissing }
            return
        }
        if let issuer, !issuer.hasSameBytes(as: answered) {
            throw .issuerMismatch(found: answered, expected: issuer)
        }
    }

    /// The state in a redirect's query (without the `?`), which identifies the request; nil if there is none.
    public static func state(in query: String) -> String? { QueryParameters(query)?[.state] }
}
