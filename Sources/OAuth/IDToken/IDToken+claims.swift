// SPDX-License-Identifier: Apache-2.0

import BearerdCryptography
import BearerdJSON

/// Claims for programs.
extension IDToken {
    /// Parses a token that a session holds and has validated.
    ///
    /// - Returns: nil for anything but an ID token; no input traps.
    public init?(_ compact: String) {
        guard let token = try? IDToken(parsing: Secret(compact)) else { return nil }
        self = token
    }

    /// The claim of this name if it is a string; nil otherwise.
    public subscript(claim: String) -> String? { signed.claims?[claim]?.string }

    /// All claims as one JSON object.
    public var json: String { signed.claims.map { String(decoding: $0.serialized(), as: UTF8.self) } ?? "{}" }

    /// A claim that is an array of strings, such as `groups`; a single string counts as one.
    public func strings(_ claim: String) -> [String] { signed.claims?.strings(claim) ?? [] }

    /// `email` (OpenID Connect Core §5.1).
    public var email: String? { self["email"] }

    /// The person's name: the first of `preferred_username`, `email` and `sub` that is not empty.
    var personName: String? {
        ["preferred_username", "email", "sub"].lazy.compactMap { self[$0] }.first { !$0.isEmpty }
    }

    /// `email_verified`; the string `true` counts too, as some servers send it.
    public var isEmailVerified: Bool {
        let claim = signed.claims?["email_verified"]
        return claim?.bool ?? (claim?.string?.lowercased() == "true")
    }
}
