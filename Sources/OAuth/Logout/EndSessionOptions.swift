// SPDX-License-Identifier: Apache-2.0

/// Parameters of one logout request that differ from the configured ones.
struct EndSessionOptions: Sendable {
    /// The `post_logout_redirect_uri`; nil for the configured one.
    var redirectURI: String?
    /// The `state` parameter; nil for a random one.
    var state: String?
    /// Parameters that are sent after the configured ones.
    var parameters: [NamedValue] = []

    /// Throws a ``TokenFailure`` for a parameter that may not be sent.
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
