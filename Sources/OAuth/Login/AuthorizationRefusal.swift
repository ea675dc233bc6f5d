// SPDX-License-Identifier: Apache-2.0

/// An authorization server's "no" to a login (RFC 6749 §4.1.2.1, RFC 8628 §3.5).
public struct AuthorizationRefusal: Error, Equatable, Sendable {
    private static let longestDescription = 300

    /// nil for one that may not be shown.
    public let code: ErrorCode?
    /// The server's words for the person who logs in, cut and without what a terminal would obey.
    public let description: String?

    init(code: ErrorCode?, description: String?) {
        self.code = code
        self.description = description.map { words in
            let plain = words.unicodeScalars.prefix(Self.longestDescription).map { scalar in
                0x20...0x7E ~= scalar.value ? Character(scalar) : "?"
            }
            return String(plain)
        }
    }
}
