// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography

/// A resource server's `WWW-Authenticate` challenge (RFC 6750 §3, RFC 9110 §11.6.1).
public struct BearerChallenge: Equatable, Sendable {
    /// Longer fields are not read; in bytes.
    private static let longestField = 8192

    /// `error`; nil if there is none, or it may not be shown.
    public let error: ErrorCode?
    /// `scope`: the scope tokens that the request needs.
    public let scope: [String]

    /// An authentication scheme, compared without case (RFC 9110 §11.1).
    package enum Scheme: String, Sendable {
        case bearer
        /// RFC 9449 §7.1: the parameters mean the same.
        case dpop
    }

    /// Reads the first challenge of the scheme `Bearer`.
    ///
    /// - Parameter fields: the values of the field, which may hold several challenges each.
    /// - Returns: nil if no challenge is of that scheme; no input traps.
    public init?(in fields: [String]) {
        self.init(in: fields, ofScheme: .bearer)
    }

    /// Returns true if a resource server refuses a request for its nonce alone (RFC 9449 §9).
    ///
    /// - Parameter fields: the values of `WWW-Authenticate`.
    package static func asksForNonce(status: Int, _ fields: [String]) -> Bool {
        status == 401 && BearerChallenge(in: fields, ofScheme: .dpop)?.error == .useDPoPNonce
    }

    /// Reads the challenge to a token, bearer or bound (RFC 9449 §7.1): the one that names an error, where a server
    /// answers in both schemes.
    package init?(toToken fields: [String]) {
        let bearer = BearerChallenge(in: fields)
        let bound = bearer?.error == nil ? BearerChallenge(in: fields, ofScheme: .dpop) : nil
        guard let challenge = bound?.error == nil ? bearer ?? bound : bound else { return nil }
        self = challenge
    }

    /// Reads the `error_description` of the first challenge of the scheme `Bearer`, else `DPoP`, as far as it may be shown.
    ///
    /// It is no member of the challenge, because making a text safe to show costs more than all else that is read.
    ///
    /// - Parameter fields: the values of `WWW-Authenticate`.
    package static func errorDescription(in fields: [String]) -> String? {
        for scheme in [Scheme.bearer, .dpop] {
            for field in fields where field.utf8.count <= longestField {
                var scanner = ChallengeScanner(field)
                guard let parameters = scanner.parameters(of: scheme.rawValue) else { continue }
                return parameters["error_description"].flatMap {
                    ErrorDescription($0, beside: nil, hiding: [])?.text
                }
            }
        }
        return nil
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
