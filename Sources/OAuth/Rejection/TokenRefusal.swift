// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// A resource server's words about a token that it refuses, and the token's audience, for people to see; holds no secret.
public struct TokenRefusal: Equatable, Sendable {
    /// Longer names are not shown, nor more than a few; in bytes.
    private static let longestName = 200
    private static let mostNames = 5

    /// `error` of the challenge (RFC 6750 §3); nil if there is none, or it may not be shown.
    public var error: String?
    /// `error_description`: printable ASCII, at most 200 bytes.
    public var errorDescription: String?
    /// `scope`: the scope that the request needs; at most 200 bytes, empty if the challenge does not say.
    public var scope = ""
    /// `aud` of a token that is a JWT (RFC 7519 §4.1.3), whose signature nobody has looked at; empty for any other token.
    public var audience: [String] = []

    /// Reads the words of a response.
    ///
    /// - Parameters:
    ///   - fields: the values of `WWW-Authenticate`.
    ///   - token: the token of the request; nil if it is not known.
    package init(_ fields: [String], to token: AccessTokenSnapshot?) {
        if let challenge = BearerChallenge(toToken: fields) {
            error = challenge.error?.rawValue
            scope = String(
                challenge.scope.filter(Self.isPrintable).joined(separator: " ").prefix(Self.longestName))
        }
        errorDescription = BearerChallenge.errorDescription(in: fields)
        audience = token?.token.withPlaintext { Self.audience(of: $0) } ?? []
    }

    /// The words as parts of a sentence, which end with whom the token is for; empty if there are none.
    package var words: String {
        let said = [error, errorDescription.map { "\"\($0)\"" }].compactMap(\.self)
        var words = said.isEmpty ? "" : ": \(said.joined(separator: ", "))"
        if !scope.isEmpty { words += "; it asks for the scope \(scope)" }
        if !audience.isEmpty { words += "; the token is for \(audience.joined(separator: " "))" }
        return words
    }

    private static func audience(of token: String) -> [String] {
        guard let claim = (try? JWS(compact: token))?.claims?[IDTokenClaim.audience.rawValue] else {
            return []
        }
        let names = claim.string.map { [$0] } ?? claim.array?.compactMap(\.string) ?? []
        return names.prefix(mostNames).filter { name in
            name.utf8.count <= longestName && isPrintable(name) && !SecretListing.isRepeated(in: name)
        }
    }

    private static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { 0x21...0x7E ~= $0 }
    }
}
