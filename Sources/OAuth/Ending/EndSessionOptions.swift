// SPDX-License-Identifier: Apache-2.0

/// What one logout says beside, or in place of, what the configuration has all of them say.
struct EndSessionOptions: Sendable {
    /// Where the browser goes in the end; nil for the configured place.
    var redirectURI: String?
    /// What comes back there; nil for a word that is drawn anew.
    var state: String?
    /// After the configuration's own.
    var parameters: [NamedValue] = []

    /// - Throws: ``TokenFailure`` for what no request may say.
    func check() throws(TokenFailure) {
        if let redirectURI, !WireGrammar.isAbsoluteURI(redirectURI) {
            throw TokenFailure(
                .misconfigured, .badParameter,
                detail: "the post_logout_redirect_uri is not an absolute URI without a fragment")
        }
        for parameter in parameters
        where parameter.name.isEmpty || LogoutParameter(rawValue: parameter.name) != nil {
            throw TokenFailure(
                .misconfigured, .badParameter,
                detail: "'\(parameter.name)' clashes with a built-in parameter, or is no name")
        }
    }
}
