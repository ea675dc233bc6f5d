// SPDX-License-Identifier: Apache-2.0

/// What one token request says beside what the configuration has all of them say.
struct TokenAdditions: Sendable {
    /// After the built-in parameters and those of the configuration.
    var parameters: [NamedValue] = []
    /// What a refresh is for (RFC 6749 §6); nil where it says what it always does.
    var scope: [String]?
    /// In place of fields of the same name.
    var headers: [NamedValue] = []

    /// Whether the request is one like all others.
    var isEmpty: Bool { parameters.isEmpty && scope == nil && headers.isEmpty }
}

extension Grant {
    /// What the client says of itself, and no program for it.
    private static let clientParameters: Set<TokenParameter> = [
        .grantType, .clientID, .clientSecret, .clientAssertion, .clientAssertionType, .scope,
    ]

    /// - Throws: ``TokenFailure`` for a parameter that would be sent twice, and one without a name.
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
