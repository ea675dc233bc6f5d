// SPDX-License-Identifier: Apache-2.0

import Cryptography

/// What a resource server says is wrong with a token, in `WWW-Authenticate` (RFC 6750 §3, RFC 9110 §11.6.1).
public struct BearerChallenge: Equatable, Sendable {
    /// Nothing longer is read: no server has so much to say.
    private static let longestField = 8192

    /// `error`; nil where there is none, or none that may be shown.
    public let error: ErrorCode?
    /// `scope`: what the request would need, as scope tokens.
    public let scope: [String]

    /// A scheme of tokens, compared without case (RFC 9110 §11.1).
    package enum Scheme: String, Sendable {
        case bearer
        /// RFC 9449 §7.1: the parameters mean the same.
        case dpop
    }

    /// Reads the first challenge of the scheme `Bearer`, whose parameters alone count.
    ///
    /// - Parameter fields: the values of the field, which may hold several challenges each.
    /// - Returns: nil if no challenge is of that scheme; no input traps.
    public init?(in fields: [String]) {
        self.init(in: fields, ofScheme: .bearer)
    }

    /// Whether a resource server refuses a request for its nonce alone, which says nothing of the token (RFC 9449 §9).
    ///
    /// - Parameter fields: the values of `WWW-Authenticate`.
    package static func asksForNonce(status: Int, _ fields: [String]) -> Bool {
        status == 401 && BearerChallenge(in: fields, ofScheme: .dpop)?.error == .useDPoPNonce
    }

    /// Reads the first challenge of a scheme.
    package init?(in fields: [String], ofScheme scheme: Scheme) {
        for field in fields where field.utf8.count <= Self.longestField {
            var scanner = ChallengeScanner(field)
            guard let parameters = scanner.parameters(of: scheme.rawValue) else { continue }
            error = parameters["error"].flatMap(ErrorCode.init(rawValue:))
            scope =
                parameters["scope"]?.split(separator: " ").map(String.init)
                .filter { !SecretListing.isRepeated(in: $0) } ?? []
            return
        }
        return nil
    }
}
