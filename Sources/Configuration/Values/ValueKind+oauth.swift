// SPDX-License-Identifier: Apache-2.0

internal import BearerdCryptography
internal import BearerdHTTPMessages
internal import BearerdJSON
internal import BearerdYAML
internal import OAuth

extension ValueKind<GrantType> {
    /// A grant's short name or URN.
    static var grantType: ValueKind {
        let names = GrantType.allConfigurable.flatMap { [$0.shortName, $0.rawValue] }
        return ValueKind(.words(names.enumerated().filter { !names[..<$0].contains($1) }.map(\.element))) {
            scalar throws(ValueError) in
            guard let grant = GrantType(configured: scalar.text) else {
                let hint = NearMiss.hint(for: scalar.text, among: GrantType.allConfigurable.map(\.shortName))
                throw ValueError("'\(scalar.written)' is not a grant\(hint)")
            }
            return grant
        }
    }
}

extension GrantType {
    static let allConfigurable: [GrantType] = [
        .clientCredentials, .refreshToken, .authorizationCode, .deviceCode, .password, .jwtBearer,
        .tokenExchange,
    ]
}

extension ValueKind<JWSAlgorithm> {
    /// An algorithm for signing our own assertions.
    static var signingAlgorithm: ValueKind {
        word(of: [JWSAlgorithm.rs256, .ps256, .es256, .edDSA].map { ($0.rawValue, $0) })
    }
}

extension ValueKind<JSONValue> {
    /// The value of a claim: a boolean or whole number if it is written as one, otherwise a text.
    static var json: ValueKind {
        ValueKind(.any) { scalar throws(ValueError) in
            if let flag = scalar.typed.bool { return .bool(flag) }
            if let number = scalar.typed.integer { return .integer(number) }
            return .string(scalar.text)
        }
    }
}

extension ValueKind<String> {
    private static var tokenTypePrefix: String { "urn:ietf:params:oauth:token-type:" }
    /// The type of a subject token if the configuration does not say.
    static var standardTokenType: String { tokenTypePrefix + "access_token" }
    /// The type of a platform's token.
    static var jwtTokenType: String { tokenTypePrefix + "jwt" }

    /// A token type (RFC 8693 §3), by its last word or as a URI.
    static var tokenType: ValueKind {
        text.map { text throws(ValueError) in
            let words = ["access_token", "refresh_token", "id_token", "saml1", "saml2", "jwt"]
            if words.contains(text) { return tokenTypePrefix + text }
            guard text.contains(":"), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                let hint = NearMiss.hint(for: text, among: words)
                throw ValueError("is neither a URI nor one of \(words.joined(separator: ", "))\(hint)")
            }
            return text
        }
    }

    /// A scope token (RFC 6749 §3.3).
    static var scopeToken: ValueKind {
        text.checked(
            "is not a scope: printable ASCII without spaces, '\"' and '\\'", where: WireGrammar.isScopeToken
        ).checked("ends with a comma, and scopes are separated by spaces, or are a list") {
            !$0.hasSuffix(",")
        }
    }

    /// A resource indicator: an absolute URI without a fragment (RFC 8707 §2).
    static var resource: ValueKind {
        text.checked("is not an absolute URI without a fragment", where: WireGrammar.isAbsoluteURI)
    }

    /// An issuer: a URL without query and fragment (RFC 8414 §2), kept as written.
    static var issuer: ValueKind {
        reading("an http or https URL without a query") { WireGrammar.isIssuer($0) ? $0 : nil }
            .map { issuer throws(ValueError) in
                if let objection = issuer.objectionToMetadata { throw ValueError(objection) }
                return issuer
            }
    }
}

extension String {
    /// The error of an issuer that is the address of its metadata (RFC 8414 §3, OpenID Connect Discovery §4).
    fileprivate var objectionToMetadata: String? {
        guard let range = firstRange(of: "/.well-known/") else { return nil }
        let name = self[range.upperBound...].prefix { $0 != "/" }
        return "is the address of its metadata: leave '/.well-known/\(name)' away"
    }
}
