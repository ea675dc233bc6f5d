// SPDX-License-Identifier: Apache-2.0

/// Parameters and headers of one token request, beside those that the configuration gives to all of them.
struct TokenAdditions: Sendable {
    /// Sent after the built-in parameters and those of the configuration.
    var parameters: [NamedValue] = []
    /// The scope of a refresh (RFC 6749 §6) in place of the usual one; nil for that.
    var scope: [String]?
    /// Replace fields of the same names.
    var headers: [NamedValue] = []

    /// Tells one refresh that is asked for from the next; sent nowhere.
    var number = 0

    /// True if the request is like all others.
    var isEmpty: Bool { parameters.isEmpty && scope == nil && headers.isEmpty }
}

extension Grant {
    /// The parameters that a ``TokenRequest`` may not set: they are the client's own.
    private static let clientParameters: Set<TokenParameter> = [
        .grantType, .clientID, .clientSecret, .clientAssertion, .clientAssertionType, .scope,
    ]

    /// Throws a ``TokenFailure`` for a parameter without a name, and for one that would be sent twice.
    func checkParameters(with additions: TokenAdditions) throws(TokenFailure) {
        for parameter in additions.parameters { try Self.check(parameter.name) { _ in true } }
        guard case .request(let request) = self else { return }
        for name in request.parameters.map(\.name) + request.secrets.map(\.name) {
            try Self.check(name, isBuiltIn: Self.clientParameters.contains)
        }
    }

    private static func check(
        _ name: String, isBuiltIn: (TokenParameter) -> Bool
    ) throws(TokenFailure) {
        guard name.isEmpty || TokenParameter(rawValue: name).map(isBuiltIn) ?? false else { return }
        throw TokenFailure(
            .misconfigured, .badParameter,
            detail: name.isEmpty
                ? "a parameter needs a name" : "'\(name)' clashes with a built-in parameter")
    }
}
