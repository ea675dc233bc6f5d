// SPDX-License-Identifier: Apache-2.0

/// What a resource server says is wrong with a token, in `WWW-Authenticate` (RFC 6750 §3, RFC 9110 §11.6.1).
public struct BearerChallenge: Equatable, Sendable {
    /// Nothing longer is read: no server has so much to say.
    private static let longestField = 8192

    /// `error`; nil where there is none, or none that may be shown.
    public let error: ErrorCode?
    /// `scope`: what the request would need, as scope tokens.
    public let scope: [String]

    /// Reads the first challenge of the scheme `Bearer`, whose parameters alone count.
    ///
    /// - Parameter fields: the values of the field, which may hold several challenges each.
    /// - Returns: nil if no challenge is of that scheme; no input traps.
    public init?(in fields: [String]) {
        for field in fields where field.utf8.count <= Self.longestField {
            var scanner = ChallengeScanner(field)
            guard let parameters = scanner.parameters(of: "bearer") else { continue }
            error = parameters["error"].flatMap(ErrorCode.init(rawValue:))
            scope = parameters["scope"]?.split(separator: " ").map(String.init) ?? []
            return
        }
        return nil
    }
}
